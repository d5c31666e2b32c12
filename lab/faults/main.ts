import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { startDevnet } from '../devnet/index.ts'
import type { FaultOptions } from './options.ts'
import { faultDevnet, planOf, runFaults, type FaultRun } from './run.ts'
import { describe, isClean } from './summary.ts'

/** A fault run from the command line. Returns the exit code. */
export async function faults(options: FaultOptions): Promise<number> {
  const { seed, transfers, bridge, batch, processes, only } = options
  const run: FaultRun = {
    ...{ seed, transfers, bridge, processes, kinds: only },
    ...{ durationMs: options.duration * 1000, stuckAfterMs: options.stuckAfter * 1000, meanPauseMs: options.pause },
  }
  if (options.plan) {
    process.stdout.write(`${JSON.stringify(planOf(run), null, 2)}\n`)
    return 0
  }
  const dir = join(process.cwd(), '.portage', 'faults', `${seed}-${Date.now()}`)
  await mkdir(dir, { recursive: true })
  const log = createWriteStream(join(dir, 'faults.log'))
  const say = (line: string) => {
    log.write(`${line}\n`)
    process.stderr.write(`${line}\n`)
  }
  let clean = false
  say(`Seed ${seed}. Starting Temporal and two chains with the contracts of both bridges, and a guardian…`)
  const bridges = { wormhole: bridge !== 'native', native: bridge !== 'wormhole' && 'fixed', batch } as const
  const devnet = await startDevnet({ ...faultDevnet, ...bridges, window: options.window, dir, ui: options.keep, log: say })
  try {
    const summary = await runFaults(devnet, run, say)
    process.stdout.write(options.json ? `${JSON.stringify(summary)}\n` : `${describe(summary)}\n`)
    clean = isClean(summary)
    if (options.keep) await interrupted(devnet.temporal.uiUrl, say)
    return clean ? 0 : 1
  } finally {
    await devnet.stop()
    log.end()
    if (clean && !options.keep) await rm(dir, { recursive: true, force: true })
    else process.stderr.write(`Logs, Temporal's database, plan.json, lanes.json, remains.json: ${dir}\n`)
  }
}

async function interrupted(uiUrl: string | undefined, say: (line: string) => void): Promise<void> {
  say(`Staying up. Web UI: ${uiUrl}/namespaces/default/workflows  Ctrl-C ends it.`)
  const forever = setInterval(() => {}, 60_000)
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  clearInterval(forever)
}
