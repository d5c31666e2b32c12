import { loadavg } from 'node:os'
import { Client, Connection } from '@temporalio/client'
import { type Devnet, startDevnet } from '../devnet/index.ts'
import { type PortageProcess, startPortage } from '../devnet/portage-process.ts'
import { allClosed } from './closes.ts'
import { startCpuMeter } from './cpu-meter.ts'
import { type CpuLimit, limitCpu } from './cpu-limit.ts'
import { withForm } from './form.ts'
import { holdMessages } from './held.ts'
import { type Machine, machineOf } from './machine.ts'
import { sendTokens } from './send-tokens.ts'
import { ratesOf, round } from './statistics.ts'
import { type Verdict, verdictOf } from './verdict.ts'

export interface ScaleOptions {
  /** Numbers of processes with the role `chain`. Each number is measured on a devnet of its own. */
  readonly processes: readonly number[]
  /** Percent of a core that each of these processes may use. */
  readonly percent: number
  readonly keys: number
  /** Transfers per process. */
  readonly transfers: number
}

export interface ScaleRow extends Verdict {
  readonly processes: number
  readonly sustainedPerSecond: number
  /** The rate, relative to the first row's rate per process. */
  readonly timesOne: number
  /** Lowest share of 100 ms periods in which one of the limited processes had used up its CPU time. */
  readonly usedUp: number
  /** Cores that each part used. */
  readonly cores: Readonly<Record<string, number>>
}

export interface ScaleResult extends Omit<ScaleOptions, 'processes'> {
  readonly rows: readonly ScaleRow[]
  readonly machine: Machine
}

/** Transfers per process before the measurement, without a limit, so that V8 has compiled the code. */
const warmUp = 200

/**
 * Measures how the rate grows with the number of processes that run transfers, if CPU time of these processes is the
 * only limit. Throws Error if transfers are not delivered within half an hour, or if there are no control groups.
 */
export async function scale({ processes, ...options }: ScaleOptions, say: (line: string) => void): Promise<ScaleResult> {
  const rows: ScaleRow[] = []
  const load: number[] = []
  for (const count of processes) {
    load.push(loadavg()[0] ?? 0)
    const row = await oneSize(count, options, say)
    const [one = { ...row, processes: count }] = rows
    const timesOne = round(row.sustainedPerSecond / (one.sustainedPerSecond / one.processes))
    say(`${count} processes: ${row.sustainedPerSecond} per second, ${timesOne} times one process`)
    rows.push({ ...row, processes: count, timesOne })
  }
  return { ...options, rows, machine: machineOf(load) }
}

type Measured = Omit<ScaleRow, 'processes' | 'timesOne'>

async function oneSize(count: number, options: Omit<ScaleOptions, 'processes'>, say: (line: string) => void): Promise<Measured> {
  const devnet = await startDevnet({ keysPerChain: options.keys, ui: false, auditMinutes: 600, log: say })
  const connection = await Connection.connect({ address: devnet.temporal.address })
  const started: PortageProcess[] = []
  const limits: CpuLimit[] = []
  try {
    const others = await Promise.all((['ledger', 'intake', 'lane'] as const).map((role) => start(devnet, role, role)))
    started.push(...others)
    const chains = await Promise.all(Array.from({ length: count }, (_, index) => start(devnet, 'chain', `chain-${index}`)))
    started.push(...chains)
    const untilHeld = holdMessages(devnet)
    const client = new Client({ connection })
    const giveUp = () => started.map((one) => one.ended && `Portage ${one.ended}: ${one.tail()}`).find(Boolean)
    const sent = await sendTokens(devnet, (warmUp + options.transfers) * count)
    await untilHeld(sent)
    devnet.guardian.release(warmUp * count)
    const closed = "WorkflowType = 'transfer'"
    await allClosed(client, closed, warmUp * count, giveUp)
    for (const [index, { pid }] of chains.entries()) limits.push(await limitCpu(`chain-${index}`, pid, options.percent / 100))
    const from = Date.now()
    const meter = await startCpuMeter({
      temporal: [devnet.temporal.pid],
      'limited processes': chains.map(({ pid }) => pid),
      'other processes of Portage': others.map(({ pid }) => pid),
      anvils: Object.values(devnet.chains).map(({ anvil }) => anvil.pid),
      driver: [process.pid],
    })
    devnet.guardian.release(options.transfers * count)
    const query = `${closed} AND StartTime >= '${new Date(from).toISOString()}'`
    const found = await allClosed(client, query, options.transfers * count, giveUp)
    const usage = await meter.stop()
    const seconds = (Date.now() - from) / 1_000
    const shares = await Promise.all(limits.map(({ usedUp }) => usedUp()))
    const { sustainedPerSecond } = ratesOf(
      found.map(({ closedAt }) => closedAt),
      from,
    )
    return {
      sustainedPerSecond: round(sustainedPerSecond),
      usedUp: round(Math.min(...shares)),
      cores: Object.fromEntries(Object.entries(usage).map(([name, { cpuMs }]) => [name, round(cpuMs / 1_000 / seconds)])),
      ...verdictOf(await devnet.check(sent), sent.length),
    }
  } finally {
    // A process that is limited to a tenth of a core needs long for its orderly end.
    await Promise.all(started.map((one) => one.stop(0)))
    await Promise.all(limits.map(({ end }) => end()))
    await connection.close()
    await devnet.stop()
  }
}

function start(devnet: Devnet, role: 'ledger' | 'intake' | 'lane' | 'chain', name: string): Promise<PortageProcess> {
  const args = role === 'chain' ? ['--chain', 'bsc'] : []
  return startPortage(devnet, {
    role,
    name,
    args,
    configure: (config) => ({ ...withForm(config, 'queue'), audit: { everyMinutes: 10_080 } }),
  })
}
