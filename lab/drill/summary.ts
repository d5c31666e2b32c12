import type { CheckResult } from '../checker/checker.ts'
import { type LaneTransaction, laneTransactions } from '../checker/spending.ts'
import type { Remains } from '../faults/drain.ts'
import type { LogFindings } from '../faults/logs.ts'
import type { FaultSummary } from '../faults/summary.ts'
import type { DrillCase } from './options.ts'
import { type DrillScene, type Payment, treasury } from './scene.ts'

/** Durations of the parts, seconds. */
export interface DrillTimes {
  /** Duration of pg_dump for both databases, under load. */
  dump: number
  /** Time from the loss until the Temporal server answers again. */
  restore: number
  /** Time from the end of `restore` until every transfer is delivered and every stream has proved its numbers. */
  recovery: number
  all: number
}

type Judged = Pick<
  FaultSummary,
  | 'transfers'
  | 'delivered'
  | 'lost'
  | 'duplicateEffects'
  | 'wrongBalances'
  | 'foreignCompletions'
  | 'nonceHoles'
  | 'stuck'
  | 'wastedTransactions'
  | 'revertedTransactions'
>

/** Operators' payments do not count as `wastedTransactions`. */
export interface DrillSummary extends LogFindings, Judged {
  readonly case: DrillCase
  readonly payments: { readonly once: number; readonly never: number; readonly again: number }
  readonly seconds: DrillTimes
}

interface JudgeInput {
  readonly case: DrillCase
  readonly remains: Remains
  readonly logs: LogFindings
  readonly seconds: DrillTimes
}

export async function judge(scene: DrillScene, { remains, logs, seconds, ...input }: JudgeInput): Promise<DrillSummary> {
  const { devnet, sent, say } = scene
  const check = await devnet.check(sent)
  const payments = await paymentsOf(scene)
  for (const { when, chain, times } of payments) say(`  payment on ${chain}, ${when}: made ${times} times`)
  for (const line of [...remains.transfers, ...remains.lanes, ...remains.streams]) say(`  left: ${line}`)
  const made = payments.reduce((sum, { times }) => sum + times, 0)
  return {
    case: input.case,
    ...counts(check),
    stuck: remains.transfers.length + remains.lanes.length + remains.streams.length,
    payments: {
      once: payments.filter(({ times }) => times === 1).length,
      never: payments.filter(({ times }) => times === 0).length,
      again: payments.filter(({ times }) => times > 1).length,
    },
    wastedTransactions: check.wastedTransactions - made,
    revertedTransactions: check.revertedTransactions,
    ...logs,
    seconds,
  }
}

function counts(check: CheckResult) {
  const { transfers, delivered, lost, duplicates: duplicateEffects, wrongBalances, foreignCompletions, nonceHoles } = check
  return { transfers, delivered, lost, duplicateEffects, wrongBalances, foreignCompletions, nonceHoles }
}

async function paymentsOf(scene: DrillScene): Promise<(Payment & { readonly times: number })[]> {
  const spent = await treasuryPayments(scene)
  return scene.payments.map((payment) => ({
    ...payment,
    times: spent.filter(({ chain, value }) => chain === payment.chain && value === payment.amount).length,
  }))
}

export async function allPaid(scene: DrillScene): Promise<boolean> {
  return (await paymentsOf(scene)).every(({ times }) => times > 0)
}

async function treasuryPayments({ devnet }: DrillScene): Promise<LaneTransaction[]> {
  const perChain = (['ethereum', 'bsc'] as const).map((chain) => {
    const addresses = devnet.lanes.filter((lane) => lane.chain === chain).map(({ address }) => address)
    return laneTransactions(chain, devnet.chains[chain].anvil.url, addresses)
  })
  return (await Promise.all(perChain)).flat().filter(({ to, succeeded }) => to === treasury && succeeded)
}

export function isClean(summary: DrillSummary): boolean {
  const { transfers, delivered, lost, duplicateEffects, wrongBalances, foreignCompletions, nonceHoles, stuck, payments } = summary
  const wrong = lost + duplicateEffects + wrongBalances + foreignCompletions + nonceHoles + stuck + payments.again
  const unpaid = summary.case === 'dump' ? payments.never : 0
  return transfers > 0 && delivered === transfers && wrong + unpaid + summary.brokenTasks + summary.loggedKeys === 0
}

export function describe({ payments, seconds, ...figures }: DrillSummary): string {
  const row = ([name, value]: [string, unknown]) => `  ${name.padEnd(24)}${String(value)}`
  return [
    ...Object.entries(figures).map(row),
    ...['  payments', ...Object.entries(payments).map(row)],
    ...['  seconds', ...Object.entries(seconds).map(row)],
  ].join('\n')
}
