import { setTimeout as sleep } from 'node:timers/promises'
import { loadavg } from 'node:os'
import { Client, Connection } from '@temporalio/client'
import { type Devnet, startDevnet } from '../devnet/index.ts'
import { type PortageProcess, startPortage } from '../devnet/portage-process.ts'
import { until } from '../devnet/until.ts'
import { closedOf } from './closes.ts'
import { namedThreads, type ProcessUsage } from './cpu-meter.ts'
import { type Form, withForm } from './form.ts'
import { holdMessages } from './held.ts'
import { machineOf, type Machine } from './machine.ts'
import { perWorkflow } from './measure.ts'
import { sendTokens } from './send-tokens.ts'
import { round } from './statistics.ts'
import { startUseMeter, type Used } from './use-meter.ts'
import { verdictOf, type Verdict } from './verdict.ts'

export interface GrowthOptions {
  /** Numbers of transfers that reach Portage at the same time. Each number is measured on a devnet of its own. */
  readonly inFlight: readonly number[]
  readonly keys: number
  readonly form: Form
}

export interface FixedCosts {
  readonly cpuMsPerSecond: Readonly<Record<string, number>>
  readonly rpcPerBlock: number
}

export interface GrowthRow extends Verdict {
  readonly inFlight: number
  /** Number of repetitions. Small sizes are repeated until enough transfers have been measured. */
  readonly rounds: number
  /** Highest number of open transfers. Lower than `inFlight` if the first transfers end before the last ones start. */
  readonly openPeak: number
  readonly seconds: number
  readonly perSecond: number
  readonly fixed: FixedCosts
  /** ms of CPU per transfer, by process, minus the costs of an idle process. */
  readonly cpuMs: Readonly<Record<string, number>>
  /** ms of CPU per transfer, by process, with the costs of an idle process. */
  readonly cpuMsAll: Readonly<Record<string, number>>
  /**
   * JSON-RPC calls. `rpcPerBlock`: calls that Portage repeats at each block, divided by the number of blocks of one
   * chain.
   */
  readonly rpcPerBlock: number
  readonly rpcPerTransfer: number
  readonly stateTransitions: number
  readonly historyEvents: number
  readonly rssPeakMiB: Readonly<Record<string, number>>
}

export interface GrowthResult extends Omit<GrowthOptions, 'inFlight'> {
  readonly rows: readonly GrowthRow[]
  readonly machine: Machine
}

/**
 * Minimum number of transfers to measure. `warmUp`: number of transfers before the measurement, so that V8 has compiled
 * the code.
 */
const [leastMeasured, warmUp] = [200, 200]
const quietMs = 20_000

/**
 * Measures the cost per transfer for each number of transfers in flight. Throws Error if a transfer is not delivered
 * within half an hour.
 */
export async function growth({ inFlight, ...options }: GrowthOptions, say: (line: string) => void): Promise<GrowthResult> {
  const rows: GrowthRow[] = []
  const load: number[] = []
  for (const size of inFlight) {
    load.push(loadavg()[0] ?? 0)
    rows.push(await oneSize(size, options, say))
  }
  return { ...options, rows, machine: machineOf(load) }
}

async function oneSize(size: number, { keys, form }: Omit<GrowthOptions, 'inFlight'>, say: (line: string) => void): Promise<GrowthRow> {
  const devnet = await startDevnet({ keysPerChain: keys, ui: false, auditMinutes: 600, log: say })
  try {
    const connection = await Connection.connect({ address: devnet.temporal.address })
    const client = new Client({ connection })
    const untilHeld = holdMessages(devnet)
    const rounds = Math.max(1, Math.ceil(leastMeasured / size))
    const warm = await sendTokens(devnet, warmUp)
    await untilHeld(warm)
    const portage = await startPortage(devnet, {
      configure: (config) => ({ ...withForm(config, form), audit: { everyMinutes: 10_080 } }),
      env: namedThreads,
    })
    try {
      const run = createRun(devnet, client, portage, say)
      await run.deliver(warm.length)
      const fixed = await run.quiet()
      // A process fetches all published messages when it starts, so the measured transfers are sent only after the
      // start.
      const sent = await sendTokens(devnet, size * rounds)
      await untilHeld(sent)
      say(`${size} in flight: ${sent.length} sent, and held.`)
      const measured = await run.measured(rounds, size)
      const check = await devnet.check([...warm, ...sent])
      return { inFlight: size, rounds, ...rowOf(measured, fixed), fixed, ...verdictOf(check, warm.length + sent.length) }
    } finally {
      await portage.stop(15_000)
      await connection.close()
    }
  } finally {
    await devnet.stop()
  }
}

interface MeasuredRun extends Used {
  readonly count: number
  readonly openPeak: number
  readonly stateTransitions: number
  readonly historyEvents: number
}

function createRun(devnet: Devnet, client: Client, portage: PortageProcess, say: (line: string) => void) {
  const giveUp = () => portage.ended && `Portage ${portage.ended}: ${portage.tail()}`
  let delivered = 0

  /** Resolves when `count` released messages are delivered. Returns the highest number of open transfers. */
  async function deliver(count: number): Promise<number> {
    devnet.guardian.release(count)
    delivered += count
    let [peak, said] = [0, Date.now()]
    const look = async () => {
      const [{ count: all }, { count: closed }] = await Promise.all([
        client.workflow.count("WorkflowType = 'transfer'"),
        client.workflow.count("WorkflowType = 'transfer' AND ExecutionStatus != 'Running'"),
      ])
      peak = Math.max(peak, all - closed)
      if (Date.now() - said > 10_000) {
        said = Date.now()
        say(`  ${closed} of ${delivered} delivered, ${all - closed} open`)
      }
      return closed >= delivered
    }
    // The pause grows with `count`, because counting makes the server read all matches.
    await until(look, { timeoutMs: 1_800_000, everyMs: Math.max(250, count / 4), what: `${count} to be delivered`, giveUp })
    return peak
  }

  return {
    deliver,
    async quiet(): Promise<FixedCosts> {
      const stop = await startUseMeter(devnet, portage)
      await sleep(quietMs)
      const { usage, seconds, calls, blocks } = await stop()
      return {
        cpuMsPerSecond: Object.fromEntries(Object.entries(usage).map(([name, { cpuMs }]) => [name, round(cpuMs / seconds)])),
        rpcPerBlock: round((calls.perBlock + calls.others) / Math.max(1, blocks)),
      }
    },
    async measured(rounds: number, size: number): Promise<MeasuredRun> {
      const from = new Date().toISOString()
      const stop = await startUseMeter(devnet, portage)
      let openPeak = 0
      for (let number = 0; number < rounds; number++) openPeak = Math.max(openPeak, await deliver(size))
      const used = await stop()
      const closed = await closedOf(client, `WorkflowType = 'transfer' AND StartTime >= '${from}'`)
      return { ...used, count: rounds * size, openPeak, ...perWorkflow(closed) }
    },
  }
}

function rowOf({ count, seconds, openPeak, blocks, usage, calls, ...costs }: MeasuredRun, fixed: FixedCosts) {
  const each = (of: (name: string, usage: ProcessUsage) => number) =>
    Object.fromEntries(Object.entries(usage).map(([name, one]) => [name, round(of(name, one))]))
  return {
    ...{ openPeak, seconds: round(seconds), perSecond: round(count / seconds) },
    cpuMs: each((name, { cpuMs }) => (cpuMs - (fixed.cpuMsPerSecond[name] ?? 0) * seconds) / count),
    cpuMsAll: each((_, { cpuMs }) => cpuMs / count),
    rpcPerBlock: round(calls.perBlock / Math.max(1, blocks)),
    rpcPerTransfer: round(calls.others / count),
    ...{ stateTransitions: round(costs.stateTransitions), historyEvents: round(costs.historyEvents) },
    rssPeakMiB: each((_, { rssPeakMiB }) => rssPeakMiB),
  }
}
