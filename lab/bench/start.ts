import { readFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { startChild } from '../devnet/child.ts'
import { startDevnet, type Devnet } from '../devnet/index.ts'
import { startPortage } from '../devnet/portage-process.ts'
import { until } from '../devnet/until.ts'
import { parseStat } from './proc-stat.ts'
import { round, type Spread, spread } from './statistics.ts'

/** Times in seconds. */
export interface StartSummary {
  readonly rounds: number
  readonly machine: { readonly cpus: number; readonly model: string; readonly load: readonly number[] }
  readonly portageReady: Spread
  /** CPU time until the process is ready. Undefined without /proc. */
  readonly portageCpu: Spread | undefined
  /** Times from the start of `npm run demo`, including the set-up. */
  readonly demo: {
    /** Time until a user's transfer is in a block. */
    readonly firstSent: Spread
    /** Time until Portage has the message of a transfer. Guardians sign a message once its block is final. */
    readonly firstSeen: Spread
    readonly firstDelivered: Spread
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const load = () => round(loadavg()[0] ?? 0)

/** Starts a process and a demo `rounds` times. The first start of a process compiles, so it is not counted. */
export async function startTimes(rounds: number, say: (line: string) => void): Promise<StartSummary> {
  const before = load()
  const starts = await portageStarts(rounds, say)
  const demos: DemoTimes[] = []
  for (let number = 1; number <= rounds; number++) {
    const one = await demoTimes()
    say(
      `demo ${number}: first transfer sent after ${one.firstSent} s, seen after ${one.firstSeen} s, delivered after ${one.firstDelivered} s`,
    )
    demos.push(one)
  }
  const of = (name: keyof DemoTimes) => spread(demos.map((one) => one[name]))
  return {
    rounds,
    machine: { cpus: cpus().length, model: cpus()[0]?.model ?? 'unknown', load: [before, load()] },
    portageReady: spread(starts.map(({ ready }) => ready)),
    portageCpu: starts.every(({ cpu }) => cpu !== undefined) ? spread(starts.map(({ cpu }) => cpu ?? 0)) : undefined,
    demo: { firstSent: of('firstSent'), firstSeen: of('firstSeen'), firstDelivered: of('firstDelivered') },
  }
}

/** Time after which a process has stored V8's compiled code for later processes, ms. */
const settledMs = 12_000

async function portageStarts(rounds: number, say: (line: string) => void) {
  const devnet = await startDevnet({ keysPerChain: 2, ui: false, log: say })
  try {
    await portageStart(devnet, 'first', settledMs)
    const starts: { ready: number; cpu: number | undefined }[] = []
    for (let number = 1; number <= rounds; number++) {
      const one = await portageStart(devnet, `round-${number}`)
      say(`start ${number}: ready after ${one.ready} s, ${one.cpu ?? '?'} s of CPU`)
      starts.push(one)
    }
    return starts
  } finally {
    await devnet.stop()
  }
}

async function portageStart(devnet: Devnet, name: string, aliveMs = 0) {
  const began = performance.now()
  const portage = await startPortage(devnet, { name })
  const ready = round((performance.now() - began) / 1_000)
  const stat = await readFile(`/proc/${portage.pid}/stat`, 'utf8').then(parseStat, () => undefined)
  if (aliveMs > 0) await new Promise((resolve) => setTimeout(resolve, aliveMs))
  await portage.stop(15_000)
  return { ready, cpu: stat && stat.cpuMs / 1_000 }
}

type DemoTimes = Record<keyof StartSummary['demo'], number>

/** Match the demo's progress line: `1/4 delivered, 4 sent, 3.1 s: 3 pending, 1 delivered`. */
const signs: Readonly<Record<keyof DemoTimes, RegExp>> = {
  firstSent: /^\d+\/\d+ delivered, [1-9]\d* sent/m,
  firstSeen: /^\d+\/\d+ delivered, .* s: \d/m,
  firstDelivered: /^[1-9]\d*\/\d+ delivered/m,
}

async function demoTimes(): Promise<DemoTimes> {
  const began = performance.now()
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const demo = await startChild(npm, ['--prefix', root, 'run', '--silent', 'demo', '--', '--transfers', '4', '--json'])
  const times: Partial<DemoTimes> = {}
  try {
    const look = () => {
      const text = demo.tail()
      for (const name of Object.keys(signs) as (keyof DemoTimes)[])
        if (signs[name].test(text)) times[name] ??= round((performance.now() - began) / 1_000)
      return times.firstDelivered !== undefined
    }
    await until(look, { timeoutMs: 120_000, everyMs: 20, what: 'the first transfer of the demo', giveUp: () => demo.ended && demo.tail() })
    await demo.exited
    return times as DemoTimes
  } finally {
    await demo.stop(20_000)
  }
}

export function startTable({ rounds, machine, portageReady, portageCpu, demo }: StartSummary): string {
  const rows: readonly (readonly [string, Spread | undefined])[] = [
    ['portage run --role all: ready', portageReady],
    ['portage run --role all: CPU until ready', portageCpu],
    ['npm run demo: first transfer sent', demo.firstSent],
    ['npm run demo: first transfer seen by Portage', demo.firstSeen],
    ['npm run demo: first transfer delivered', demo.firstDelivered],
  ]
  const cells = rows.map(([what, one]) => `  ${what.padEnd(48)}${one ? `${one.median} s (${one.min}–${one.max})` : '?'}`)
  return [`${rounds} rounds on ${machine.cpus} × ${machine.model}, load ${machine.load.join(' to ')}`, ...cells].join('\n')
}
