import { loadavg } from 'node:os'
import { Client, Connection } from '@temporalio/client'
import { timedSteps } from '../../observability/step-times.ts'
import type { CheckResult } from '../checker/checker.ts'
import { sendTransfers } from '../demo/load.ts'
import { minedOf } from '../devnet/chain/mined.ts'
import { type Devnet, startDevnet } from '../devnet/index.ts'
import { startPortage } from '../devnet/portage-process.ts'
import { type AnySent, isNative, idWithoutDigest } from '../devnet/sent.ts'
import { type BlockClock, startBlockClock } from './block-clock.ts'
import { allClosed } from './closes.ts'
import { machineOf, type Machine } from './machine.ts'
import { added, quantile, readHistogram } from './histograms.ts'
import { round } from './statistics.ts'
import { verdictOf, type Verdict } from './verdict.ts'

export interface LatencyOptions {
  /** `rate`: transfers per second, alternating between both bridges and directions. `seconds`: duration of the load. */
  readonly rate: number
  readonly seconds: number
  /** Number of keys per chain. */
  readonly keys: number
  readonly nodes: number
}

export interface Quantiles {
  readonly median: number
  readonly p90: number
  readonly most: number
}

/** Times in ms, by the clock of this machine. */
export interface BridgeLatency {
  readonly transfers: number
  /** From the block that made the source's block final to the block with the delivery. */
  readonly finalityToInclusion: Quantiles
  /** From the block that made the delivery's block final to the close of the transfer. */
  readonly targetFinalityToDelivered: Quantiles
  /** From the block that made the source's block final until the guardians signed. Undefined for the native bridge. */
  readonly finalityToSigned?: Quantiles
  readonly steps: Readonly<Record<string, { readonly median: number; readonly p90: number }>>
  readonly seenToDelivered: { readonly median: number; readonly p90: number }
}

export interface LatencyResult extends LatencyOptions, Verdict {
  readonly bridges: Readonly<Record<string, BridgeLatency>>
  readonly machine: Machine
}

/** Measures the latency of transfers at a constant rate. Throws Error if a transfer is not delivered in time. */
export async function latency(options: LatencyOptions, say: (line: string) => void): Promise<LatencyResult> {
  const { rate, seconds, keys, nodes } = options
  const load = loadavg()[0] ?? 0
  const nodesPerChain = nodes > 1 ? nodes : 0
  const devnet = await startDevnet({ keysPerChain: keys, nodesPerChain, native: 'fixed', auditMinutes: 10, ui: false, log: say })
  const signedAt = new Map<string, number>()
  devnet.guardian.treat(({ emitter, sequence }) => {
    signedAt.set(`${emitter}/${sequence}`, Date.now())
    return 'sign'
  })
  try {
    const connection = await Connection.connect({ address: devnet.temporal.address })
    const client = new Client({ connection })
    const clocks = {
      ethereum: await startBlockClock(devnet.chains.ethereum.anvil.url),
      bsc: await startBlockClock(devnet.chains.bsc.anvil.url),
    }
    const portage = await startPortage(devnet)
    try {
      say(`${rate} transfers per second for ${seconds} s, over both bridges …`)
      const sent = await sendTransfers(devnet, { transfers: rate * seconds, rate, bridge: 'both' }, () => {})
      const giveUp = () => portage.ended && `Portage ${portage.ended}: ${portage.tail()}`
      const closed = await allClosed(client, "WorkflowType = 'transfer'", sent.length, giveUp)
      const metrics = await (await fetch(`${portage.apiUrl}/metrics`)).text()
      const check = await devnet.check(sent)
      const closes = new Map(closed.map(({ workflowId, closedAt }) => [workflowId.split(':').slice(0, 4).join(':'), closedAt]))
      const measured = await Promise.all(sent.map((one) => timesOf(devnet, clocks, closes, signedAt, check, one)))
      const bridges = Object.fromEntries(
        [...new Set(measured.map(({ bridge }) => bridge))].map((bridge) => [
          bridge,
          bridgeOf(
            measured.filter((one) => one.bridge === bridge),
            stepsOf(metrics, bridge),
          ),
        ]),
      )
      return { ...options, bridges, ...verdictOf(check, sent.length), machine: machineOf([load]) }
    } finally {
      await portage.stop(15_000)
      await Promise.all([clocks.ethereum.stop(), clocks.bsc.stop(), connection.close()])
    }
  } finally {
    await devnet.stop()
  }
}

interface Times {
  readonly bridge: string
  /** ms. NaN if a block was not seen. */
  readonly toInclusion: number
  readonly toDelivered: number
  readonly toSigned: number
}

type Clocks = Readonly<Record<'ethereum' | 'bsc', BlockClock>>

async function timesOf(
  { chains }: Devnet,
  clocks: Clocks,
  closes: ReadonlyMap<string, number>,
  signedAt: ReadonlyMap<string, number>,
  check: CheckResult,
  sent: AnySent,
): Promise<Times> {
  const [source, target] = sent.source === 'ethereum' ? (['ethereum', 'bsc'] as const) : (['bsc', 'ethereum'] as const)
  const height = isNative(sent) ? sent.height : (await minedOf(chains[source].anvil, sent.txHash)).blockNumber
  const included = isNative(sent)
    ? check.nativeFindings.find(({ transfer }) => transfer.id === sent.id)?.blockHeight
    : check.findings.find(({ transfer }) => transfer.txHash === sent.txHash)?.blockHeight
  const id = idWithoutDigest(sent)
  const final = clocks[source].finalAt(height) ?? Number.NaN
  return {
    bridge: id.split(':')[0] ?? '',
    toInclusion: (clocks[target].at(included ?? -1) ?? Number.NaN) - final,
    toDelivered: (closes.get(id) ?? Number.NaN) - (clocks[target].finalAt(included ?? -1) ?? Number.NaN),
    toSigned: isNative(sent) ? Number.NaN : (signedAt.get(`${sent.emitter}/${sent.sequence}`) ?? Number.NaN) - final,
  }
}

function bridgeOf(all: readonly Times[], steps: Pick<BridgeLatency, 'steps' | 'seenToDelivered'>): BridgeLatency {
  const signed = all.map(({ toSigned }) => toSigned).filter(Number.isFinite)
  return {
    transfers: all.length,
    finalityToInclusion: quantiles(all.map(({ toInclusion }) => toInclusion)),
    targetFinalityToDelivered: quantiles(all.map(({ toDelivered }) => toDelivered)),
    ...(signed.length > 0 && { finalityToSigned: quantiles(signed) }),
    ...steps,
  }
}

function quantiles(values: readonly number[]): Quantiles {
  const sorted = values.filter(Number.isFinite).toSorted((a, b) => a - b)
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN)
  return { median: at(0.5), p90: at(0.9), most: at(1) }
}

function stepsOf(metrics: string, bridge: string): Pick<BridgeLatency, 'steps' | 'seenToDelivered'> {
  const of = (name: string, step?: string) => {
    const series = readHistogram(metrics, name).filter(({ labels }) => labels['bridge'] === bridge && labels['step'] === step)
    const ms = (share: number) => round((quantile(added(series), share) ?? Number.NaN) * 1_000, 0)
    return { median: ms(0.5), p90: ms(0.9) }
  }
  return {
    steps: Object.fromEntries(timedSteps.map((step) => [step, of('portage_transfer_step_seconds', step)])),
    seenToDelivered: of('portage_transfer_seconds'),
  }
}
