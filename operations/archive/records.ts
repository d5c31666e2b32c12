import type { GivenOrder } from '../../domain/order.ts'
import type { Delivery, Transfer } from '../../domain/transfer/transfer.ts'
import type { ClosedRun, ClosedTransfer } from '../../temporal/client/transfers/closed-runs.ts'
import { type EndedStatus, readStatus, readTransferInput } from './ended-schema.ts'

/** A closed run. Amounts are decimal strings with the unit in the field's name; times are ISO 8601. */
export interface TransferRecord {
  /** An added field does not change it. */
  readonly version: 1
  /** Workflow id: it may have several runs. */
  readonly id: string
  readonly runId: string
  /** Of Temporal: COMPLETED, or TERMINATED, FAILED… without an outcome. */
  readonly execution: string
  readonly startedAt: string
  readonly closedAt: string
  /** Message (base64) and its fields. Absent: the run's input is no transfer. */
  readonly transfer?: Transfer
  /** delivered, rejected, declined or cancelled. Absent: the run has none. */
  readonly outcome?: string
  readonly code?: string
  readonly reason?: string
  readonly cancelledBy?: { readonly by: string; readonly reason: string }
  readonly delivery?: Omit<Delivery, 'gasPaid'> & { readonly gasPaidWei?: string }
  readonly lane?: string
  readonly nonce?: number
  readonly batch?: string
  readonly rounds?: number
  /** Signed for its last nonce, the oldest first. */
  readonly attempts?: readonly {
    readonly kind: string
    readonly hash: string
    readonly maxFeePerGasWei: string
    readonly maxPriorityFeePerGasWei: string
    readonly fate: string
  }[]
  /** The newest 48 in all rounds and lanes. */
  readonly transactions?: readonly {
    readonly lane: string
    readonly nonce: number
    readonly round: number
    readonly kind: string
    /** Absent: no process reported it. */
    readonly hash?: string
    readonly maxFeePerGasWei: string
    readonly maxPriorityFeePerGasWei: string
    readonly fate: string
    readonly gasPaidWei?: string
    readonly at?: string
  }[]
  /** The newest 32 orders. */
  readonly orders?: readonly (Omit<GivenOrder, 'at'> & { readonly at: string })[]
  readonly timeline?: readonly { readonly at: string; readonly state: string; readonly note: string }[]
  /** A code such as ENCRYPTION_KEY_UNKNOWN. A later pass tries again. */
  readonly unreadable?: string
  /** Somebody else than Portage wrote its result. */
  readonly invalid?: true
  /** Left out for their shape. */
  readonly dropped?: number
  /** Lacks its lists and, if still too long or its slice is full, its texts. */
  readonly shortened?: true
}

/** Characters. The longest message takes some 300,000. */
export const longestRecord = 400_000
/** Characters. Then lines are the shortest: V8 has no string of 2^29. */
const fullSlice = 100_000_000

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

/** Without lists and, if still too long, without texts of strangers. */
function shortRecord(record: TransferRecord): TransferRecord {
  const { attempts: _, transactions: _transactions, orders: _orders, timeline: _timeline, ...rest } = record
  return JSON.stringify(rest).length <= longestRecord ? { ...rest, shortened: true } : shortestRecord(record)
}

/** Some 2,000 characters. */
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

/** Without a key, for example: a later pass reads it again. */
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

/** Also runs that were unreadable before and are not now. */
export function newOnes(archived: readonly TransferRecord[], records: readonly TransferRecord[]): TransferRecord[] {
  const there = new Map<string, boolean>()
  for (const record of archived) there.set(record.runId, isUnreadable(record) && there.get(record.runId) !== false)
  return records.filter((record) => {
    const mayBeBetter = there.get(record.runId)
    return mayBeBetter === undefined || (mayBeBetter && !isUnreadable(record))
  })
}

/** @param full characters from which on lines are the shortest */
export function sliceText(lines: readonly string[], added: readonly TransferRecord[], full = fullSlice): string {
  const all = [...lines]
  let length = lines.reduce((sum, line) => sum + line.length, 0)
  for (const record of added) {
    const line = JSON.stringify(record)
    all.push(length + line.length <= full ? line : JSON.stringify(shortestRecord(record)))
    length += all.at(-1)?.length ?? 0
  }
  return `${all.join('\n')}\n`
}
