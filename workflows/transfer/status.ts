import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { Delivery, Transfer } from '../../domain/transfer/transfer.ts'
import type { Order } from '../../domain/order.ts'
import type { TimelineEntry, TransferProgress, TransferStatus } from '../../temporal/contracts/transfer.ts'

/** How a transfer ends. */
export type Outcome =
  | { readonly kind: 'delivered'; readonly delivery: Delivery }
  | { readonly kind: 'rejected' | 'declined'; readonly code: ErrorCode; readonly reason: string }
  | { readonly kind: 'cancelled'; readonly by: Order }

/** Lines of the timeline that are kept; the oldest but the first are dropped. */
const timelineLimit = 40

/** The answer of the query `status`, and the result of the workflow. */
export function statusOf(id: string, transfer: Transfer, progress: TransferProgress, outcome: Outcome | undefined): TransferStatus {
  const { message: _, ...identity } = transfer
  const { state, lane, underway, code, reason, round: rounds, timeline, transactions, orders } = progress
  const { landed, nonce = landed?.nonce } = underway ?? {}
  const { txHash, attempts, tried, batch } = landed ?? {}
  const delivery = outcome?.kind === 'delivered' ? outcome.delivery : undefined
  const cancelledBy = outcome?.kind === 'cancelled' ? outcome.by : undefined
  const facts = { lane, nonce, txHash: delivery?.txHash ?? txHash, attempts, tried, batch, delivery, cancelledBy, code, reason }
  return { id, transfer: identity, state, ...facts, rounds, timeline, ...(transactions && { transactions }), ...(orders && { orders }) }
}

export function addToTimeline(timeline: TimelineEntry[], entry: TimelineEntry): void {
  timeline.push(entry)
  if (timeline.length > timelineLimit) timeline.splice(1, 1)
}
