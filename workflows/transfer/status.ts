import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { Order } from '../../domain/order.ts'
import type { Delivery, Transfer, TransferState } from '../../domain/transfer/transfer.ts'
import { searchAttributes } from '../../temporal/contracts/names.ts'
import type { TimelineEntry, TransferProgress, TransferStatus } from '../../temporal/contracts/transfer.ts'
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow'

/** How a transfer ends. */
export type Outcome =
  | { readonly kind: 'delivered'; readonly delivery: Delivery }
  | { readonly kind: 'rejected' | 'declined'; readonly code: ErrorCode; readonly reason: string }
  | { readonly kind: 'cancelled'; readonly by: Order }

/** Further facts of a state. */
export interface StateFacts {
  readonly code?: ErrorCode
  readonly reason?: string
  readonly txHash?: string | undefined
}

/** Longest timeline. The first entry always stays; the oldest of the others are dropped. */
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

/**
 * Writes the search attributes of a state. Each write costs a state transition, so nothing is written where nothing
 * changed.
 */
export function writeAttributes(before: TransferState, { state, lane }: TransferProgress, { code, txHash }: StateFacts): void {
  const { TransferState, PortageCode, Lane, TxHash } = searchAttributes
  const isOtherCode = workflowInfo().typedSearchAttributes.get(PortageCode) !== code
  if (before === state && !txHash && !isOtherCode) return
  upsertSearchAttributes([
    { key: TransferState, value: state },
    ...(isOtherCode ? [{ key: PortageCode, value: code ?? null }] : []),
    ...(state === 'broadcasting' && lane ? [{ key: Lane, value: lane }] : []),
    ...(txHash ? [{ key: TxHash, value: txHash }] : []),
  ])
}
