import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { Order } from '../../domain/order.ts'
import type { Delivery, Transfer, TransferState } from '../../domain/transfer/transfer.ts'
import { searchAttributes } from '../../temporal/contracts/names.ts'
import type { TimelineEntry, TransferProgress, TransferStatus } from '../../temporal/contracts/transfer.ts'
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow'

export type Outcome =
  | { readonly kind: 'delivered'; readonly delivery: Delivery }
  | { readonly kind: 'rejected' | 'declined'; readonly code: ErrorCode; readonly reason: string }
  | { readonly kind: 'cancelled'; readonly by: Order }

export interface StateFacts {
  readonly code?: ErrorCode
  readonly reason?: string
  readonly txHash?: string | undefined
}

/** The first entry stays; the oldest others are dropped. */
const timelineLimit = 40

/** Answer of the query `status`, and result. */
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

/** Each write costs a state transition: write changes only. */
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
