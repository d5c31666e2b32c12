import { setTimeout as sleep } from 'node:timers/promises'
import { loadavg } from 'node:os'
import { tokenBridgeEmitters } from '../../bridges/wormhole-token-bridge/emitters.ts'
import { type Devnet, startDevnet } from '../devnet/index.ts'
import { type PortageProcess, startPortage } from '../devnet/portage-process.ts'
import { until } from '../devnet/until.ts'
import { namedThreads } from './cpu-meter.ts'
import { machineOf, type Machine } from './machine.ts'
import { round } from './statistics.ts'
import { startUseMeter } from './use-meter.ts'

export interface IdleOptions {
  readonly seconds: number
}

export interface IdleRow {
  readonly streams: number
  readonly seconds: number
  readonly cpuMsPerSecond: Readonly<Record<string, number>>
  /** Actions that Temporal Cloud would bill, except those of schedules. */
  readonly actionsPerHour: number
  /** Calls to Temporal by name, except long polls. The most frequent name comes first. */
  readonly callsPerHour: Readonly<Record<string, number>>
  readonly pollsPerHour: number
  readonly httpPerHour: number
  /**
   * JSON-RPC calls. `rpcPerBlock`: calls that Portage repeats at each block, divided by the number of blocks of one
   * chain.
   */
  readonly rpcPerBlock: number
  readonly rpcOthersPerHour: number
  readonly rssPeakMiB: number
}

export interface IdleResult {
  readonly rows: readonly IdleRow[]
  readonly auditMinutes: number
  readonly machine: Machine
}

/** Time that a process needs for its start-up work, ms. */
const settleMs = 20_000
/**
 * Audit interval of the streams. Shorter than the default of 5 minutes, so that two minutes contain an audit of each
 * stream.
 */
const auditMinutes = 2
/** Maximum duration of the measurement with streams of the devnet's two chains only, s. */
const aloneSeconds = 60

/** A transfer (payload 1 of the token bridge) to chain 65,000, which does not exist. */
const toElsewhere = `0x01${'00'.repeat(31)}01${'ab'.repeat(32)}0001${'cd'.repeat(32)}fde8${'00'.repeat(32)}`

const actions: ReadonlySet<string> = new Set([
  ...['StartWorkflowExecution', 'SignalWorkflowExecution', 'SignalWithStartWorkflowExecution', 'UpdateWorkflowExecution'],
  ...['ExecuteMultiOperation', 'QueryWorkflow', 'RespondActivityTaskCompleted', 'RespondActivityTaskFailed', 'RecordActivityTaskHeartbeat'],
])

/** Measures one process on two chains, first alone, then with streams for all token bridges of the mainnet. */
export async function idle({ seconds }: IdleOptions, say: (line: string) => void): Promise<IdleResult> {
  const load = [loadavg()[0] ?? 0]
  const devnet = await startDevnet({ ui: false, blockTimeSeconds: 1, log: say })
  try {
    const alone = await withPortage(devnet, false, (portage) => measured(devnet, portage, 0, Math.min(seconds, aloneSeconds)))
    say('Measured without other sources.')
    load.push(loadavg()[0] ?? 0)
    const all = await withPortage(devnet, true, async (portage) => {
      const streams = await beginAll(devnet, portage)
      say(`${streams} streams have begun.`)
      return measured(devnet, portage, streams, seconds)
    })
    return { rows: [alone, all], auditMinutes, machine: machineOf(load) }
  } finally {
    await devnet.stop()
  }
}

async function withPortage<Result>(
  devnet: Devnet,
  everySource: boolean,
  use: (portage: PortageProcess) => Promise<Result>,
): Promise<Result> {
  const portage = await startPortage(devnet, {
    configure: (config) => ({
      ...config,
      streams: { ...config.streams, auditMinutes },
      bridges: {
        'wormhole-token-bridge': { ...config.bridges['wormhole-token-bridge'], ...(everySource && { everySource: 'mainnet' as const }) },
      },
    }),
    env: namedThreads,
  })
  try {
    return await use(portage)
  } finally {
    await portage.stop(15_000)
  }
}

/**
 * Publishes one message for each source without a node, and waits until each of these sources has a stream. Returns the
 * number of streams.
 */
async function beginAll(devnet: Devnet, portage: PortageProcess): Promise<number> {
  const own = Object.values(devnet.chains).map(({ wormholeChainId }) => wormholeChainId)
  const others = tokenBridgeEmitters.mainnet.filter(([chain]) => !own.includes(chain))
  await until(() => devnet.guardian.spy.subscribers > 0, { timeoutMs: 60_000, what: 'the subscription' })
  for (const [emitterChain, , emitter] of others) {
    const head = { timestamp: Math.floor(Date.now() / 1_000), vaaNonce: 0, consistencyLevel: 1, sequence: 1_000n }
    devnet.guardian.observe({ ...head, emitterChain, emitter, payload: toElsewhere })
  }
  const begun = async () => {
    const text = await metricsOf(portage)
    return [...text.matchAll(/^portage_stream_open\{stream="wormhole-token-bridge:wormhole-[^}]*\} 0$/gm)].length === others.length
  }
  await until(begun, { timeoutMs: 120_000, everyMs: 500, what: 'all streams to begin' })
  return others.length
}

async function measured(devnet: Devnet, portage: PortageProcess, streams: number, wanted: number): Promise<IdleRow> {
  await sleep(settleMs)
  const before = await callsOf(devnet, portage)
  const stop = await startUseMeter(devnet, portage)
  await sleep(wanted * 1_000)
  const { usage, seconds, blocks, calls } = await stop()
  const after = await callsOf(devnet, portage)
  const perHour = (count: number) => Math.round((count * 3_600) / seconds)
  const made = [...after.calls]
    .map(([name, count]) => [name, count - (before.calls.get(name) ?? 0)] as const)
    .filter(([, count]) => count > 0)
  const sum = (some: readonly (readonly [string, number])[]) => some.reduce((all, [, count]) => all + count, 0)
  return {
    streams,
    seconds: round(seconds),
    cpuMsPerSecond: Object.fromEntries(Object.entries(usage).map(([name, { cpuMs }]) => [name, round(cpuMs / seconds)])),
    actionsPerHour: perHour(sum(made.filter(([name]) => actions.has(name)))),
    callsPerHour: Object.fromEntries(made.toSorted(([, a], [, b]) => b - a).map(([name, count]) => [name, perHour(count)])),
    pollsPerHour: perHour(after.polls - before.polls),
    httpPerHour: perHour(after.http - before.http),
    rpcPerBlock: round(calls.perBlock / Math.max(1, blocks)),
    rpcOthersPerHour: perHour(calls.others),
    rssPeakMiB: Object.values(usage)[1]?.rssPeakMiB ?? 0,
  }
}

async function callsOf({ guardian }: Devnet, portage: PortageProcess) {
  const text = await metricsOf(portage)
  const counted = (metric: string) =>
    [...text.matchAll(new RegExp(`^temporal_${metric}_total\\{.*operation="([^"]*)".*\\} (\\d+)`, 'gm'))].map(
      ([, name = '', count]) => [name, Number(count)] as const,
    )
  const calls = new Map<string, number>()
  for (const [name, count] of counted('request')) calls.set(name, (calls.get(name) ?? 0) + count)
  const polls = counted('long_request').reduce((sum, [, count]) => sum + count, 0)
  return { calls, polls, http: guardian.api.requests.length + guardian.wormholescan.requests.length }
}

async function metricsOf({ adminUrl }: PortageProcess): Promise<string> {
  return (await fetch(`${adminUrl}/metrics`)).text()
}
