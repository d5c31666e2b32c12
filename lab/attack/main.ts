import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DefaultLogger, Runtime } from '@temporalio/worker'
import { partsOf } from '../demo/load.ts'
import { startDevnet } from '../devnet/index.ts'
import { describe, isClean } from './judge.ts'
import { isNoticed, withoutDefence } from './defences.ts'
import { type AttackOptions, parseOptions } from './options.ts'
import { type AttackRun, planOf, runAttacks } from './run.ts'
import { attackDevnet } from './scene.ts'

export async function attack({
  seed,
  transfers,
  processes,
  plugin: hasPlugin,
  only,
  without,
  duration,
  stuckAfter,
  keep,
  json,
  plan,
}: AttackOptions): Promise<number> {
  const run: AttackRun = {
    seed,
    transfers,
    processes,
    hasPlugin,
    kinds: only,
    durationMs: duration * 1000,
    stuckAfterMs: stuckAfter * 1000,
  }
  if (plan) {
    process.stdout.write(`${JSON.stringify(planOf(run), null, 2)}\n`)
    return 0
  }
  // The SDK's native part writes its log to stdout, where only the summary belongs. Forwarding the log to the logger
  // would keep the process alive in a run without a worker of its own.
  Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { console: {}, filter: 'OFF' } } })
  const dir = join(process.cwd(), '.portage', 'attack', `${seed}-${Date.now()}`)
  await mkdir(dir, { recursive: true })
  const log = createWriteStream(join(dir, 'attack.log'))
  const say = (line: string) => {
    log.write(`${line}\n`)
    process.stderr.write(`${line}\n`)
  }
  let passed = false
  say(`Seed ${seed}. Starting Temporal and two chains with the contracts of all bridges, and a guardian…`)
  const devnet = await startDevnet({
    ...attackDevnet,
    ...partsOf('all'),
    dir,
    ui: false,
    log: say,
  })
  try {
    const launcher = without && (await withoutDefence(without, join(dir, 'without')))
    const summary = await runAttacks(devnet, { ...run, launcher }, say)
    process.stdout.write(json ? `${JSON.stringify(summary)}\n` : `${describe(summary)}\n`)
    passed = without === undefined ? isClean(summary) : isNoticed(without, summary)
    if (without) say(`${passed ? 'Noticed' : 'NOT noticed'}: the run without ${without}`)
    return passed ? 0 : 1
  } finally {
    await devnet.stop()
    log.end()
    if (passed && !keep) await rm(dir, { recursive: true, force: true })
    else process.stderr.write(`Logs and Temporal's database: ${dir}\n`)
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = await attack(parseOptions(process.argv.slice(2)))
}
