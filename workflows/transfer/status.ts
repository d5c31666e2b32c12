import { mip61Of } from '../../domain/stream/mip61-state.ts'
import type { ErrorCode } from '../../domain/errors.ts'
import type { BridgeName, Delivery, Transfer } from '../../domain/transfer/transfer.ts'
import { type Order, orderLines } from '../../domain/order.ts'
import type { TimelineEntry, TransferProgress, TransferStatus } from '../../temporal/contracts/transfer.ts'
import { setCurrentDetails } from '@temporalio/workflow'

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

/** Shows the timeline, and what was ordered, in the Web UI. */
export function showTimeline(bridge: BridgeName, { timeline, orders, state: now, code }: TransferProgress): void {
  const mip61 = mip61Of({ bridge, state: now, code })
  const lines = timeline.map(({ at, state, note }) => `- ${new Date(at).toISOString()} **${state}** ${note}`)
  setCurrentDetails(
    [...(mip61 ? [`MIP-61: **${mip61}**\n`] : []), ...lines, ...(orders ? ['\nOrders:\n', ...orderLines(orders)] : [])].join('\n'),
  )
}
