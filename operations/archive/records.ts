import type { GivenOrder } from '../../domain/order.ts'
import type { Delivery, Transfer } from '../../domain/transfer/transfer.ts'
import type { ClosedRun, ClosedTransfer } from '../../temporal/client/transfers/closed-runs.ts'
import { type EndedStatus, readStatus, readTransferInput } from './ended-schema.ts'

/** One line of the archive of transfers: a closed run. Amounts are decimal strings, their unit in the field's name; times ISO 8601. */
export interface TransferRecord {
  /** Of this shape. A field that is added does not change it. */
  readonly version: 1
  /** Workflow id, and its run: an id that was started again has several. */
  readonly id: string
  readonly runId: string
  /** Temporal's word: COMPLETED, or TERMINATED, FAILED… without an outcome. */
  readonly execution: string
  readonly startedAt: string
  readonly closedAt: string
  /** The message (base64) and what it says of itself; absent: what the run was started with is no transfer. */
  readonly transfer?: Transfer
  /** delivered, rejected, declined or cancelled; absent: it has no outcome. */
  readonly outcome?: string
  readonly code?: string
  readonly reason?: string
  readonly cancelledBy?: { readonly by: string; readonly reason: string }
  readonly delivery?: Omit<Delivery, 'gasPaid'> & { readonly gasPaidWei?: string }
  readonly lane?: string
  readonly nonce?: number
  readonly batch?: string
  readonly rounds?: number
  /** Transactions that were signed for its last nonce, in order. */
  readonly attempts?: readonly {
    readonly kind: string
    readonly hash: string
    readonly maxFeePerGasWei: string
    readonly maxPriorityFeePerGasWei: string
    readonly fate: string
  }[]
  /** All that was signed for it, by every process and in every round, on whatever lane; the newest 48. Absent: nothing was, or an earlier release has written the line. */
  readonly transactions?: readonly {
    readonly lane: string
    readonly nonce: number
    readonly round: number
    readonly kind: string
    /** Absent: it was recorded, and no process has told its hash. */
    readonly hash?: string
    readonly maxFeePerGasWei: string
    readonly maxPriorityFeePerGasWei: string
    readonly fate: string
    readonly gasPaidWei?: string
    readonly at?: string
  }[]
  /** What was ordered of it, and by whom; the newest 32. */
  readonly orders?: readonly (Omit<GivenOrder, 'at'> & { readonly at: string })[]
  readonly timeline?: readonly { readonly at: string; readonly state: string; readonly note: string }[]
  /** Why what it was started with, or its result, could not be read: an error code, such as ENCRYPTION_KEY_UNKNOWN. A later pass reads it again. */
  readonly unreadable?: string
  /** It ended with what is no result of a transfer: somebody else than Portage wrote it. */
  readonly invalid?: true
  /** Entries of its lists that were of another shape, and are left out. */
  readonly dropped?: number
  /** It was too long, and is without its lists; if that did not do, or its ten minutes are full, without its message and texts too. */
  readonly shortened?: true
}

/** Longest line, characters: a transfer with the longest message has some 300,000. */
export const longestRecord = 400_000

export function transferRecord(run: ClosedRun, ended: ClosedTransfer): TransferRecord {
  const { workflowId: id, runId, execution, startedAt, closedAt } = run
  const transfer = readTransferInput(ended.transfer)
  const status = readStatus(ended.result)
  const record: TransferRecord = {
    ...{ version: 1, id, runId, execution, startedAt, closedAt },
    ...(transfer && { transfer }),
    ...(status && outcomeOf(status)),
    ...(ended.unreadable !== undefined && { unreadable: ended.unreadable }),
    ...(execution === 'COMPLETED' && !status && ended.unreadable === undefined && { invalid: true as const }),
  }
  return JSON.stringify(record).length <= longestRecord ? record : shortRecord(record)
}

/** The record without its lists; if it is too long even so, without all texts that whoever wrote the result chose. */
function shortRecord(record: TransferRecord): TransferRecord {
  const { attempts: _, transactions: _transactions, orders: _orders, timeline: _timeline, ...rest } = record
  return JSON.stringify(rest).length <= longestRecord ? { ...rest, shortened: true } : shortestRecord(record)
}

/** At most some 2,000 characters. */
export function shortestRecord(record: TransferRecord): TransferRecord {
  const { id, runId, execution, startedAt, closedAt, outcome, unreadable, invalid } = record
  return {
    ...{ version: 1, id, runId, execution, startedAt, closedAt },
    ...(outcome !== undefined && { outcome }),
    ...(unreadable !== undefined && { unreadable }),
    ...(invalid && { invalid }),
    shortened: true,
  }
}

/** A key was missing, or the like: it is to be read again. */
export function isUnreadable({ unreadable }: TransferRecord): boolean {
  return unreadable !== undefined
}

function outcomeOf(status: EndedStatus): Partial<TransferRecord> {
  const { state, code, reason, cancelledBy, delivery, lane, nonce, batch, rounds, tried, transactions, orders, timeline, dropped } = status
  return {
    outcome: state,
    ...(code !== undefined && { code }),
    ...(reason !== undefined && { reason }),
    ...(cancelledBy && { cancelledBy }),
    ...(delivery && { delivery: deliveryOf(delivery) }),
    ...(lane !== undefined && { lane }),
    ...(nonce !== undefined && { nonce }),
    ...(batch !== undefined && { batch }),
    ...(rounds !== undefined && { rounds }),
    ...(tried && {
      attempts: tried.map(({ kind, hash, maxFee, tip, fate }) => ({
        kind,
        hash,
        maxFeePerGasWei: maxFee,
        maxPriorityFeePerGasWei: tip,
        fate,
      })),
    }),
    ...(transactions && { transactions: transactions.map(transactionOf) }),
    ...(orders && { orders: orders.map((order) => ({ ...order, at: timeOf(order.at) })) }),
    ...(timeline && { timeline: timeline.map(({ at, state: then, note }) => ({ at: timeOf(at), state: then, note })) }),
    ...(dropped > 0 && { dropped }),
  }
}

function deliveryOf({ gasPaid, ...rest }: Delivery): NonNullable<TransferRecord['delivery']> {
  return { ...rest, ...(gasPaid !== undefined && { gasPaidWei: gasPaid }) }
}

function transactionOf({
  maxFee,
  tip,
  gasPaid,
  at,
  hash,
  ...rest
}: NonNullable<EndedStatus['transactions']>[number]): NonNullable<TransferRecord['transactions']>[number] {
  return {
    ...rest,
    ...(hash !== undefined && { hash }),
    maxFeePerGasWei: maxFee,
    maxPriorityFeePerGasWei: tip,
    ...(gasPaid !== undefined && { gasPaidWei: gasPaid }),
    ...(at !== undefined && { at: timeOf(at) }),
  }
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}
