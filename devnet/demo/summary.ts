import { formatEther } from 'ethers'
import type { CheckResult } from '../checker.ts'
import type { SentTransfer } from '../users.ts'
import type { Seen } from './follow.ts'
import { keyOf } from './follow.ts'

export interface Summary {
  readonly transfers: number
  readonly delivered: number
  readonly rejected: number
  readonly declined: number
  readonly parked: number
  readonly lost: number
  readonly duplicates: number
  readonly wrongBalances: number
  readonly revertedTransactions: number
  readonly nonceHoles: number
  /** From the first send to the last delivery that Portage reports as final. */
  readonly transfersPerSecond: number
  /** From the user's block to the redeeming block. */
  readonly latencyMs: { readonly p50: number; readonly p95: number }
  readonly maxPerLanePerBlock: number
  /** Means over the run; `rpcCalls` are all calls of all chains, the polling of heads included. */
  readonly perTransfer: { readonly stateTransitions: number; readonly historyEvents: number; readonly rpcCalls: number }
  readonly deliveredBy: Readonly<Record<string, number>>
  /** Wei by chain, decimal. */
  readonly gasPaid: Readonly<Record<string, string>>
  /** By origin token, in wei of 18 decimals, decimal. */
  readonly feesEarned: Readonly<Record<string, string>>
  readonly seconds: number
}

export function summarize(input: {
  sent: readonly SentTransfer[]
  seen: readonly Seen[]
  check: CheckResult
  rpcCalls: number
  elapsedMs: number
}): Summary {
  const { sent, seen, check, rpcCalls, elapsedMs } = input
  const known = new Map(seen.map((one) => [one.key, one]))
  const ours = sent.flatMap((one) => known.get(keyOf(one)) ?? [])
  const inState = (state: Seen['state']) => ours.filter((one) => one.state === state).length
  const latencies = check.findings.flatMap(({ latencyMs }) => latencyMs ?? []).sort((a, b) => a - b)
  const mean = (values: readonly number[]) => round(values.reduce((a, b) => a + b, 0) / Math.max(1, values.length))
  return {
    transfers: sent.length,
    delivered: check.delivered,
    rejected: inState('rejected'),
    declined: inState('declined'),
    parked: inState('parked'),
    lost: check.lost,
    duplicates: check.duplicates,
    wrongBalances: check.wrongBalances,
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
    gasPaid: texts(check.gasPaid),
    feesEarned: texts(check.feesEarned),
    seconds: round(elapsedMs / 1000),
  }
}

/** Did everything arrive exactly once? */
export function isClean(summary: Summary): boolean {
  return summary.delivered === summary.transfers && summary.lost === 0 && summary.duplicates === 0 && summary.nonceHoles === 0
}

/** The summary for people. */
export function describe(summary: Summary): string {
  const { perTransfer, latencyMs } = summary
  // Four digits tell people enough; --json has every wei.
  const coins = (amount: string) => Number(formatEther(BigInt(amount))).toPrecision(4)
  const rows: [string, string][] = [
    ['delivered', `${summary.delivered} of ${summary.transfers}, exactly once (independent checker)`],
    ['lost / twice / wrong balance', `${summary.lost} / ${summary.duplicates} / ${summary.wrongBalances}`],
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
  ]
  return rows.map(([what, value]) => `  ${what.padEnd(60)}${value}`).join('\n')
}

/** `token 2/…8fb0fc9a`: the Wormhole chain of a token and the end of its address there. */
function shortToken(token: string): string {
  const [chain, address = ''] = token.split('/')
  return `token ${chain}/…${address.slice(-8)}`
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
