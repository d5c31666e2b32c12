import { createWriteStream } from 'node:fs'
import { copyFile, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { partsOf } from '../demo/load.ts'
import { type Devnet, type DevnetOptions, startDevnet } from '../devnet/index.ts'
import { quickTakeover } from '../devnet/relayer-config.ts'
import type { PostgresServerParts } from '../devnet/temporal/on-postgres.ts'
import { fleetDevnet, startFleetGround } from './fleet-run.ts'
import { fleetServerParts } from './fleet-server.ts'
import { type FaultOptions, parseOptions } from './options.ts'
import { faultDevnet, planOf, runFaults, type FaultRun } from './run.ts'
import { describe, isClean } from './summary.ts'

/** Exit code if a fleet run lacks PostgreSQL, OpenSSL or the Temporal server. */
const notRun = 3

export async function faults(options: FaultOptions): Promise<number> {
  const { seed, transfers, bridge, processes, only, fleet } = options
  const run: FaultRun = {
    ...{ seed, transfers, bridge, processes, fleet, kinds: only },
    ...{ durationMs: options.duration * 1000, stuckAfterMs: options.stuckAfter * 1000, meanPauseMs: options.pause },
  }
  if (options.plan) {
    process.stdout.write(`${JSON.stringify(planOf(run), null, 2)}\n`)
    return 0
  }
  if (!fleet) return report(options, run)
  const parts = await fleetServerParts()
  if (!('why' in parts)) return report(options, run, parts)
  process.stderr.write(`NOT RUN: faults --fleet: ${parts.why}\n`)
  return notRun
}

/** @param parts programs of a fleet's server; undefined: the run uses the dev server */
async function report(options: FaultOptions, run: FaultRun, parts?: PostgresServerParts): Promise<number> {
  const dir = join(process.cwd(), '.portage', 'faults', `${run.seed}-${Date.now()}`)
  await mkdir(dir, { recursive: true })
  const log = createWriteStream(join(dir, 'faults.log'))
  const say = (line: string) => {
    log.write(`${line}\n`)
    process.stderr.write(`${line}\n`)
  }
  let clean = false
  say(`Seed ${run.seed}. Starting Temporal and two chains with the contracts of both bridges, and a guardian…`)
  const ground = parts && (await startFleetGround(parts, dir))
  let devnet: Devnet | undefined
  try {
    devnet = await startDevnet({ ...devnetOf(options), dir, log: say, ...(ground && { temporal: ground.server.temporal }) })
    const summary = await runFaults(devnet, run, say, ground)
    process.stdout.write(options.json ? `${JSON.stringify(summary)}\n` : `${describe(summary)}\n`)
    clean = isClean(summary)
    if (options.keep) await interrupted(devnet.temporal.uiUrl, say)
    return clean ? 0 : 1
  } finally {
    if (!clean && ground) await copyFile(ground.server.logFile, join(dir, 'temporal-server.log')).catch(() => {})
    await ground?.stop()
    await devnet?.stop()
    log.end()
    if (clean && !options.keep) await rm(dir, { recursive: true, force: true })
    else process.stderr.write(`Logs${ground ? '' : ", Temporal's database"}, plan.json, lanes.json, remains.json: ${dir}\n`)
  }
}

function devnetOf({ bridge, batch, window, keep, fleet, quickTakeover: isQuick }: FaultOptions): DevnetOptions {
  const parts = { ...partsOf(bridge), batch }
  return { ...(fleet ? fleetDevnet : faultDevnet), ...parts, ...(isQuick && { worker: quickTakeover }), window, ui: keep }
}

async function interrupted(uiUrl: string | undefined, say: (line: string) => void): Promise<void> {
  say(`Staying up. ${uiUrl === undefined ? '' : `Web UI: ${uiUrl}/namespaces/default/workflows  `}Ctrl-C ends it.`)
  const forever = setInterval(() => {}, 60_000)
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  clearInterval(forever)
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = await faults(parseOptions(process.argv.slice(2)))
}
