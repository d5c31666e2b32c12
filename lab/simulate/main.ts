import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { copyEdited } from '../edited-copy.ts'
import { replaceGlobals } from './clock.ts'
import { type BugName, knownBugs } from './known-bugs.ts'
import { parseOptions, type SimulateOptions } from './options.ts'

type Modules = Awaited<ReturnType<typeof load>>

interface Failure {
  readonly seed: number
  readonly details: readonly string[]
}

const counts = ['delivered', 'cancelled', 'lost', 'duplicateEffects', 'nonceHoles', 'stuck', 'wasted', 'brokenTasks'] as const
const shrinkMs = 120_000
const mostFailures = 5
const linesOfTrace = 400

/** Loads the simulation. Must run after `replaceGlobals`, because Temporal's library reads a global when it loads. */
async function load() {
  return {
    ...(await import('./simulate.ts')),
    ...(await import('./plan.ts')),
    ...(await import('./shrink.ts')),
    ...(await import('./verdict.ts')),
  }
}

export async function simulate(options: SimulateOptions): Promise<number> {
  replaceGlobals()
  const modules = await load()
  // Without a trace, nobody reads the stacks of expected errors. Collecting them takes a tenth of the time.
  if (!options.trace) Error.stackTraceLimit = 0
  const { seed: first, transfers, json } = options
  const begun = process.hrtime.bigint()
  const cpu = process.cpuUsage()
  const elapsed = () => Number(process.hrtime.bigint() - begun) / 1e9
  const sums = Object.fromEntries(counts.map((name) => [name, 0])) as Record<(typeof counts)[number], number>
  const failures: Failure[] = []
  const isOver = (done: number) => (options.minutes === undefined ? done >= options.seeds : elapsed() >= options.minutes * 60)
  let seeds = 0
  for (; !isOver(seeds) && failures.length < (options.first ? 1 : mostFailures); seeds++) {
    const seed = first + seeds
    const verdict = await new modules.Simulation(modules.planOf(String(seed), transfers), options.trace ? say : undefined).run()
    for (const name of counts) sums[name] += verdict[name]
    if (!modules.isClean(verdict)) {
      failures.push({ seed, details: verdict.details.slice(0, 20) })
      if (!json) await explain(modules, seed, transfers)
    }
    if (!json && process.stderr.isTTY)
      process.stderr.write(`\r${seeds + 1} seeds, ${sums.delivered} delivered, ${Math.round(elapsed())} s `)
  }
  const { user, system } = process.cpuUsage(cpu)
  const perCoreSecond = Math.round((seeds * transfers * 1e6) / (user + system))
  const result = { seed: first, seeds, transfers: seeds * transfers, ...sums, seconds: Math.round(elapsed()), perCoreSecond, failures }
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : describe(result))
  return failures.length === 0 ? 0 : 1
}

function describe({
  seed,
  seeds,
  transfers,
  seconds,
  perCoreSecond,
  failures,
  ...found
}: Record<string, unknown> & { failures: readonly Failure[] }): string {
  const lines = counts.map((name) => `  ${name.padEnd(17)}${String(found[name])}`)
  const failed = failures.map((one) => `Seed ${one.seed} failed: ${one.details[0] ?? ''}\n`)
  return `${failed.join('')}Seeds from ${String(seed)}: ${String(seeds)} with ${String(transfers)} transfers in ${String(seconds)} s, ${String(perCoreSecond)} per second of a core\n${lines.join('\n')}\n`
}

async function explain({ shrink, planOf, Simulation }: Modules, seed: number, transfers: number): Promise<void> {
  say(`\nSeed ${seed} fails. Looking for a smaller failure, for at most ${shrinkMs / 1_000} s…`)
  const plan = planOf(String(seed), transfers)
  const { plan: small } = await shrink({ plan, verdict: await new Simulation(plan).run() }, shrinkMs)
  const lines: string[] = []
  const { details } = await new Simulation(small, (line) => void lines.push(line)).run()
  say(
    `${small.transfers} transfers, ${small.processes} processes, faults: ${small.faults.map(({ kind, at }) => `${kind} at ${at} ms`).join(', ') || 'none'}`,
  )
  say(JSON.stringify(small))
  if (lines.length > linesOfTrace) say(`(the first ${lines.length - linesOfTrace} lines are left out)`)
  for (const line of lines.slice(-linesOfTrace)) say(line)
  for (const detail of details) say(detail)
}

/** Runs a copy of the sources with the bug. Returns the exit code of the copy, which is 1 if a seed fails. */
async function findBug(
  name: BugName,
  { seed, seeds, transfers, trace }: Pick<SimulateOptions, 'seed' | 'seeds' | 'transfers' | 'trace'>,
): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), 'portage-simulate-'))
  try {
    await copyEdited(knownBugs[name], dir, ['docs', 'scripts', 'test', 'deploy'])
    const args = ['--seed', String(seed), '--seeds', String(seeds), '--transfers', String(transfers), ...(trace ? ['--trace'] : ['--json'])]
    const child = spawn(process.execPath, ['--import', 'tsx', join(dir, 'lab/simulate/main.ts'), ...args], {
      cwd: dir,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let printed = ''
    child.stdout.on('data', (chunk: Buffer) => void (printed += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number]
    if (code === 1) say(`${name}: found${trace ? `\n${printed}` : foundBy(printed)}`)
    return code
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

function foundBy(printed: string): string {
  const { failures } = JSON.parse(printed) as { failures: readonly Failure[] }
  return ` by seed ${failures[0]?.seed}: ${failures[0]?.details[0] ?? ''}`
}

async function findBugs(options: SimulateOptions): Promise<number> {
  const names = options.bug ? [options.bug] : (Object.keys(knownBugs) as BugName[])
  const missed: string[] = []
  for (const name of names) {
    const { seed, transfers } = knownBugs[name]
    const code = await findBug(name, options.bug ? options : { seed, seeds: 1, transfers, trace: false })
    if (code !== 1) missed.push(name)
  }
  if (missed.length > 0) say(`Not found: ${missed.join(', ')}`)
  say(`${names.length - missed.length} of ${names.length} known bugs found`)
  return missed.length === 0 ? 0 : 1
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const options = parseOptions(process.argv.slice(2))
  // Dead simulated processes leave promises that never end, so the process must exit.
  process.exit(options.bug || options.bugs ? await findBugs(options) : await simulate(options))
}
