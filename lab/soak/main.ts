import { createWriteStream } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command, InvalidArgumentError, Option } from 'commander'
import { lineChart } from '../bench/chart.ts'
import { round } from '../bench/statistics.ts'
import { textTable } from '../bench/table.ts'
import { type BridgeChoice, bridgeChoices, partsOf } from '../demo/load.ts'
import { startDevnet } from '../devnet/index.ts'
import type { PostgresServerParts } from '../devnet/temporal/on-postgres.ts'
import { fleetDevnet, startFleetGround } from '../faults/fleet-run.ts'
import { fleetServerParts } from '../faults/fleet-server.ts'
import { fleetFaultKinds } from '../faults/plan.ts'
import { runFaults } from '../faults/run.ts'
import { describe as describeFaults, type FaultSummary, isClean } from '../faults/summary.ts'
import { type Trend, trendOf } from './slope.ts'
import { heapEveryMs, type Series, startWatch } from './watch.ts'

interface SoakOptions {
  readonly hours: number
  readonly seed: string
  readonly perSecond: number
  readonly bridge: BridgeChoice
  readonly every: number
  readonly pause: number
  readonly chart?: string
  readonly json: boolean
}

const soakExit = { failed: 1, usage: 2, notRun: 3 } as const
/** A rolling restart would end the processes whose memory is judged. */
const kinds = fleetFaultKinds.filter((kind) => kind !== 'rolling-restart')
/** The last tenth of the faults strikes after the users' last transfer (`runFaults`). */
const sendingPart = 0.9
/**
 * Warm-up, seconds: a third of the run, but at least the ten minutes that V8 and the caches need, and at most half an
 * hour. In a run of less than ten minutes, growth is not judged.
 */
const warmUpOf = (seconds: number) => Math.min(1_800, Math.max(600, seconds / 3))
/**
 * Blocks are slower than in fault runs, because the calls that each process makes for each block would otherwise use
 * most of the machine.
 */
const blockTimeSeconds = 3

const help = `
Runs a fleet for hours, with two processes for each role and each key, on the real Temporal server on PostgreSQL. Users send
over all products at a steady rate. Faults strike as in npm run faults -- --fleet, but less often. They kill only the second
process of each role and key, so that a leak shows in the memory of the first process. Temporal keeps closed workflows for
an hour, the shortest time that it allows.

Judges the slope (Theil and Sen) of each series of readings: memory, heap after a collection of garbage, open files and
data folders of the processes, the longest open history, open transfers, and the database's rows and size per kept workflow
run. Readings of the first third of the run do not count (at least ten minutes, and at most half an hour).

Examples:
  npm run soak -- --hours 2 --seed 1 --chart soak.svg
  npm run soak -- --hours 0.1 --seed 1 --every 10 --json

Exit code: 0 if every transfer was delivered exactly once and every series is flat; ${soakExit.failed} otherwise;
${soakExit.usage} for wrong usage; ${soakExit.notRun} if PostgreSQL, openssl or the Temporal server is missing, with NOT RUN: on stderr.`

const options = new Command('soak')
  .description('Runs a fleet for hours, under steady load and faults.')
  .option('--hours <h>', 'hours for which users send', positive, 2)
  .option('--seed <s>', 'seed of the faults', String(Date.now() % 100_000))
  .option('--per-second <n>', 'transfers per second, in both directions together', positive, 1)
  .addOption(new Option('--bridge <b>', 'products that users send').choices(bridgeChoices).default('all'))
  .option('--every <s>', 'seconds between two readings', positive, 30)
  .option('--pause <s>', 'mean pause between two faults, seconds', positive, 20)
  .option('--chart <file>', 'write a chart of the main readings as SVG')
  .option('--json', 'print only the summary, as one JSON object, on stdout', false)
  .addHelpText('after', help)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : soakExit.usage))
  .parse()
  .opts<SoakOptions>()

const parts = await fleetServerParts()
if ('why' in parts) {
  process.stderr.write(`NOT RUN: soak: ${parts.why}\n`)
  process.exitCode = soakExit.notRun
} else process.exitCode = await soak(options, parts)

async function soak(options: SoakOptions, parts: PostgresServerParts): Promise<number> {
  const { hours, seed, perSecond, bridge, every, pause, chart, json } = options
  const seconds = Math.round(hours * 3_600)
  const dir = join(process.cwd(), '.portage', 'soak', `${seed}-${Date.now()}`)
  await mkdir(dir, { recursive: true })
  const heaps = join(dir, 'heaps')
  await mkdir(heaps)
  const measure = fileURLToPath(new URL('./heap-after-gc.cjs', import.meta.url))
  // The processes of the fleet inherit these variables.
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --require "${measure}"`
  Object.assign(process.env, { PORTAGE_SOAK_HEAPS: heaps, PORTAGE_SOAK_HEAP_MS: String(heapEveryMs) })
  const log = createWriteStream(join(dir, 'soak.log'))
  // Writes each reading to a file, so that the readings remain if the run is interrupted.
  const readings = createWriteStream(join(dir, 'readings.jsonl'))
  const say = (line: string) => {
    log.write(`${line}\n`)
    process.stderr.write(`${line}\n`)
  }
  const ground = await startFleetGround(parts, dir, { isSpared: (name) => name.endsWith('-1'), retentionSeconds: 3_600 })
  let passed = false
  try {
    const devnet = await startDevnet({
      ...{ ...fleetDevnet, ...partsOf(bridge), blockTimeSeconds, dir },
      ...{ log: say, temporal: ground.server.temporal, ui: false },
    })
    try {
      const run = {
        ...{ seed, bridge, kinds, fleet: true, processes: 2, takeovers: 0, stuckAfterMs: 180_000 },
        ...{ transfers: Math.round(seconds * perSecond), durationMs: (seconds * 1_000) / sendingPart, meanPauseMs: pause * 1_000 },
      }
      let series: readonly Series[] = []
      const summary = await runFaults(devnet, run, say, ground, (targets) => {
        const watch = startWatch(targets, { everyMs: every * 1_000, heaps }, (reading) => readings.write(`${JSON.stringify(reading)}\n`))
        series = watch.series
        return watch
      })
      const judged = judge(series, seconds)
      passed = isClean(summary) && judged.every(({ isFlat }) => isFlat)
      if (chart !== undefined) await writeFile(chart, chartOf(series, every))
      process.stdout.write(`${json ? JSON.stringify({ passed, ...summary, trends: judged }) : describe(summary, judged, passed)}\n`)
      return passed ? 0 : soakExit.failed
    } finally {
      await devnet.stop()
    }
  } finally {
    await ground.stop()
    log.end()
    readings.end()
    if (passed) await rm(dir, { recursive: true, force: true })
    else process.stderr.write(`Logs, readings.jsonl, plan.json, lanes.json, remains.json: ${dir}\n`)
  }
}

interface Judged extends Trend {
  readonly name: string
}

function judge(series: readonly Series[], seconds: number): Judged[] {
  return series.flatMap(({ name, samples, ...limit }) => {
    const sending = samples.filter(({ at }) => at <= seconds)
    const trend = trendOf(sending, warmUpOf(seconds), limit)
    return trend ? [{ name, ...trend }] : []
  })
}

function describe(summary: FaultSummary, judged: readonly Judged[], passed: boolean): string {
  const shown = ({ name, samples, median, last, growth, limit, isFlat }: Judged) => [
    name,
    ...[samples, median, last, growth, limit].map((value) => String(round(value, 1))),
    isFlat ? 'flat' : 'GROWS',
  ]
  return [
    describeFaults(summary),
    judged.length === 0
      ? '  too short to judge growth'
      : textTable([['reading', 'samples', 'median', 'last', 'growth', 'limit', ''], ...judged.map(shown)]),
    passed ? 'passed' : 'FAILED',
  ].join('\n')
}

/** Chart of all series. Each line is in percent of its own median, because the units differ. */
function chartOf(series: readonly Series[], everyS: number): string {
  const of = (prefix: string) => series.filter(({ name }) => name.startsWith(prefix))
  const lines = [
    { name: 'memory', color: '#d9480f', of: of('memory') },
    { name: 'heap after a collection', color: '#f08c00', of: of('heap') },
    { name: 'database rows per run', color: '#1971c2', of: of('database rows') },
    { name: 'longest history', color: '#2f9e44', of: of('longest') },
    { name: 'data folders', color: '#9c36b5', of: of('data folder') },
  ]
  return lineChart(
    'Readings of the soak run, in percent of the median',
    lines.map(({ name, color, of }) => ({ name, color, values: percentOfMedian(sumOf(of)) })),
    { smooth: 5, everyS },
  )
}

/** Sums the n-th samples, up to the shortest series. */
function sumOf(series: readonly Series[]): number[] {
  const length = Math.min(...series.map(({ samples }) => samples.length))
  return Array.from({ length: Number.isFinite(length) ? length : 0 }, (_, index) =>
    series.reduce((sum, { samples }) => sum + (samples[index]?.value ?? 0), 0),
  )
}

function percentOfMedian(values: readonly number[]): number[] {
  const median = values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
  return values.map((value) => (median === 0 ? 0 : (100 * value) / median))
}

function positive(text: string): number {
  const value = Number(text)
  if (!/^\d{1,4}(\.\d{1,3})?$/.test(text) || value <= 0) throw new InvalidArgumentError('must be a number above 0')
  return value
}
