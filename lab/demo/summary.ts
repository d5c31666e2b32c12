import { formatEther } from 'ethers'
import type { CheckResult } from '../checker/checker.ts'
import { keyOf, type AnySent } from '../devnet/sent.ts'
import type { Seen } from './follow.ts'
import type { BridgeChoice } from './load.ts'
import { describeWatermark, type Watermark } from './streams.ts'

export interface Summary {
  readonly bridge: BridgeChoice
  readonly transfers: number
  readonly delivered: number
  readonly rejected: number
  readonly declined: number
  readonly parked: number
  readonly lost: number
  readonly duplicates: number
  readonly wrongBalances: number
  readonly foreignCompletions: number
  readonly revertedTransactions: number
  readonly nonceHoles: number
  /** Transfers divided by the time from the first send to the last delivery that Portage reports as final. */
  readonly transfersPerSecond: number
  /** Time from the block of the user's transaction to the block of the delivery. */
  readonly latencyMs: { readonly p50: number; readonly p95: number }
  readonly maxPerLanePerBlock: number
  /** Means over the run. `rpcCalls`: all calls on all chains, including polls for new heads. */
  readonly perTransfer: { readonly stateTransitions: number; readonly historyEvents: number; readonly rpcCalls: number }
  readonly deliveredBy: Readonly<Record<string, number>>
  readonly deliveredOn: Readonly<Record<string, number>>
  /** Number of transactions with deliveries. A batch counts once. */
  readonly deliveringTransactions: number
  readonly unproved: readonly string[]
  readonly streams: readonly Watermark[]
  /** wei by chain, decimal. */
  readonly gasPaid: Readonly<Record<string, string>>
  /** Fees by origin token, 18 decimals. */
  readonly feesEarned: Readonly<Record<string, string>>
  readonly seconds: number
}

export function summarize(input: {
  bridge: BridgeChoice
  sent: readonly AnySent[]
  seen: readonly Seen[]
  check: CheckResult
  unproved: readonly string[]
  streams: readonly Watermark[]
  rpcCalls: number
  elapsedMs: number
}): Summary {
  const { bridge, sent, seen, check, unproved, streams, rpcCalls, elapsedMs } = input
  const known = new Map(seen.map((one) => [one.key, one]))
  const ours = sent.flatMap((one) => known.get(keyOf(one)) ?? [])
  const inState = (state: Seen['state']) => ours.filter((one) => one.state === state).length
  const findings = [...check.findings, ...check.nativeFindings, ...check.nttFindings, ...check.executionFindings, ...check.cctpFindings]
  const latencies = findings.flatMap(({ latencyMs }) => latencyMs ?? []).sort((a, b) => a - b)
  const mean = (values: readonly number[]) => round(values.reduce((a, b) => a + b, 0) / Math.max(1, values.length))
  return {
    bridge,
    transfers: sent.length,
    delivered: check.delivered,
    rejected: inState('rejected'),
    declined: inState('declined'),
    parked: inState('parked'),
    lost: check.lost,
    duplicates: check.duplicates,
    wrongBalances: check.wrongBalances,
    foreignCompletions: check.foreignCompletions,
    revertedTransactions: check.revertedTransactions,
    nonceHoles: check.nonceHoles,
    transfersPerSecond: round(check.delivered / (elapsedMs / 1000)),
    latencyMs: { p50: percentile(latencies, 0.5), p95: percentile(latencies, 0.95) },
    maxPerLanePerBlock: check.maxPerLanePerBlock,
    perTransfer: {
      stateTransitions: mean(ours.map((one) => one.stateTransitions)),
      historyEvents: mean(ours.map((one) => one.historyEvents)),
      rpcCalls: round(rpcCalls / Math.max(1, sent.length)),
    },
    deliveredBy: check.deliveredBy,
    deliveredOn: deliveredOn(findings),
    deliveringTransactions: new Set(findings.flatMap(({ txHashes }) => txHashes)).size,
    unproved,
    streams,
    gasPaid: texts(check.gasPaid),
    feesEarned: texts(check.feesEarned),
    seconds: round(elapsedMs / 1000),
  }
}

type Findings = CheckResult['findings' | 'nativeFindings' | 'nttFindings' | 'executionFindings' | 'cctpFindings'][number]

function deliveredOn(findings: readonly Findings[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { transfer, txHashes } of findings) {
    const route = `${transfer.source} → ${transfer.target}`
    if (txHashes.length > 0) counts[route] = (counts[route] ?? 0) + 1
  }
  return counts
}

export function isClean({ delivered, transfers, lost, duplicates, nonceHoles, foreignCompletions, unproved }: Summary): boolean {
  return delivered === transfers && lost + duplicates + nonceHoles + foreignCompletions + unproved.length === 0
}

export function describe(summary: Summary): string {
  const { perTransfer, latencyMs } = summary
  // Four digits are enough here, because `--json` has every wei.
  const coins = (amount: string) => Number(formatEther(BigInt(amount))).toPrecision(4)
  const rows: [string, string][] = [
    ['delivered', `${summary.delivered} of ${summary.transfers}, exactly once (independent checker)`],
    ['lost / twice / wrong balance', `${summary.lost} / ${summary.duplicates} / ${summary.wrongBalances}`],
    ...Object.entries(summary.deliveredOn).map(([route, count]): [string, string] => [`delivered ${route}`, String(count)]),
    ...(summary.deliveringTransactions === summary.delivered
      ? []
      : ([['transactions that delivered them', String(summary.deliveringTransactions)]] satisfies [string, string][])),
    ['rejected / declined / parked', `${summary.rejected} / ${summary.declined} / ${summary.parked}`],
    ['reverted transactions', String(summary.revertedTransactions)],
    ['nonce holes', String(summary.nonceHoles)],
    ['latency, block to block', `p50 ${latencyMs.p50 / 1000} s, p95 ${latencyMs.p95 / 1000} s`],
    ['throughput', `${summary.transfersPerSecond} transfers/s over ${summary.seconds} s`],
    ['most of one lane in one block', String(summary.maxPerLanePerBlock)],
    ['state transitions per transfer', String(perTransfer.stateTransitions)],
    ['history events per transfer', String(perTransfer.historyEvents)],
    ['RPC calls per transfer', `${perTransfer.rpcCalls} (polling of blocks included)`],
    ...Object.entries(summary.gasPaid).map(([chain, amount]): [string, string] => [`gas paid on ${chain}`, `${coins(amount)} coins`]),
    ...Object.entries(summary.feesEarned).map(([token, amount]): [string, string] => [
      `fees earned in ${shortToken(token)}`,
      `${coins(amount)} tokens`,
    ]),
    ...Object.entries(summary.deliveredBy).map(([by, count]): [string, string] => [`delivered by ${by}`, String(count)]),
    ...summary.streams.map((one): [string, string] => [`stream ${shortStream(one.stream)}`, describeWatermark(one)]),
  ]
  return rows.map(([what, value]) => `  ${what.padEnd(60)}${value}`).join('\n')
}

/** `token 2/…8fb0fc9a`: the token's Wormhole chain id and the end of its address. */
function shortToken(token: string): string {
  const [chain, address = ''] = token.split('/')
  return `token ${chain}/…${address.slice(-8)}`
}

/** `wormhole-token-bridge:ethereum:…8fb0fc9a`: only the end of the emitter's address. */
function shortStream(stream: string): string {
  return stream.replace(/[0-9a-f]{56}(?=[0-9a-f]{8}$)/, '…')
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0
}

function texts(amounts: Readonly<Record<string, bigint>>): Record<string, string> {
  return Object.fromEntries(Object.entries(amounts).map(([key, value]) => [key, String(value)]))
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
