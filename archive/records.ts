import type { GivenOrder } from '../domain/order.ts'
import type { Delivery, Transfer } from '../domain/transfer/transfer.ts'
import type { EndedRun, EndedTransfer } from '../temporal/client/ended-transfers.ts'
import type { TransferStatus } from '../temporal/contracts/transfer.ts'

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
  /** What was ordered of it, and by whom; the newest 32. */
  readonly orders?: readonly (Omit<GivenOrder, 'at'> & { readonly at: string })[]
  readonly timeline?: readonly { readonly at: string; readonly state: string; readonly note: string }[]
}

export function transferRecord(run: EndedRun, { transfer, status }: EndedTransfer): TransferRecord {
  const { workflowId: id, runId, execution, startedAt, closedAt } = run
  return { version: 1, id, runId, execution, startedAt, closedAt, ...(transfer && { transfer }), ...(status && outcomeOf(status)) }
}

/** Whoever reaches Temporal can let a run of this type end with anything: nothing here may fail for it. */
function outcomeOf(status: TransferStatus): Partial<TransferRecord> {
  const { state, code, reason, cancelledBy, delivery, lane, nonce, batch, rounds, tried, orders, timeline } = status
  return {
    outcome: state,
    ...(code !== undefined && { code }),
    ...(reason !== undefined && { reason }),
    ...(cancelledBy && { cancelledBy }),
    ...(delivery && { delivery: deliveryOf(delivery) }),
    ...(lane !== undefined && { lane }),
    ...(nonce !== undefined && { nonce }),
    ...(batch !== undefined && { batch }),
    rounds,
    ...(Array.isArray(tried) && {
      attempts: tried.map(({ kind, hash, maxFee, tip, fate }) => ({
        kind,
        hash,
        maxFeePerGasWei: maxFee,
        maxPriorityFeePerGasWei: tip,
        fate,
      })),
    }),
    ...(Array.isArray(orders) && { orders: orders.map((order: GivenOrder) => ({ ...order, at: timeOf(order.at) })) }),
    ...(Array.isArray(timeline) && { timeline: timeline.map(({ at, state: then, note }) => ({ at: timeOf(at), state: then, note })) }),
  }
}

function deliveryOf({ gasPaid, ...rest }: Delivery): NonNullable<TransferRecord['delivery']> {
  return { ...rest, ...(gasPaid !== undefined && { gasPaidWei: gasPaid }) }
}

function timeOf(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString()
}
