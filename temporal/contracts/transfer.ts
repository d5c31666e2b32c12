import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { Order, GivenOrder } from '../../domain/order.ts'
import type { LaneId } from '../../domain/lane/lane.ts'
import type { TransferTransaction } from '../../domain/transfer/attempts.ts'
import type { TimelineEntry } from '../../domain/transfer/timeline.ts'
import type { Delivery, Transfer, TransferState } from '../../domain/transfer/transfer.ts'
import type { LaneNonce, Landed, Ready } from './transfer-steps.ts'
import { defineQuery, defineSignal } from '@temporalio/workflow'

export interface TransferInput {
  transfer: Transfer
  /** From 1 (first) to 5. Default: 3. */
  priority?: number
  /** ms since the epoch. A transfer that is undelivered at this time is parked. */
  deadline?: number
  /** When the message was seen, ms since the epoch. Default: when this run began. */
  seenAt?: number
  orders?: readonly GivenOrder[]
  progress?: TransferProgress
  unacknowledged?: UnacknowledgedSignals
}

export interface UnacknowledgedSignals {
  woken: boolean
  priority: number
  /** A copy of the message, base64. */
  adopted?: string
  cancelledBy?: Order
}

export interface TransferProgress {
  state: TransferState
  round: number
  failures: number
  spent: number
  waits: number
  lane?: LaneId
  /** Lanes that granted no nonce since the last wait. `code` and `reason` come from the last of these lanes. */
  turnedAway?: { lanes: LaneId[]; code: ErrorCode; reason: string }
  disputed?: true
  /** A lane refused a nonce because the recipient or the token is quarantined. A retry removes the field. */
  quarantined?: true
  /** The round that is under way. It may hold a nonce, so the next try continues this round. */
  underway?: { ready: Ready; nonce?: number; landed?: Landed }
  /** Lanes of earlier rounds, each with its highest nonce. A cancelled transfer ends once none of them can be mined. */
  left?: LaneNonce[]
  code?: ErrorCode
  reason?: string
  timeline: TimelineEntry[]
  transactions?: readonly TransferTransaction[]
  orders?: readonly GivenOrder[]
}

export interface TransferStatus
  extends
    Pick<TransferProgress, 'state' | 'lane' | 'code' | 'reason' | 'timeline' | 'transactions' | 'orders'>,
    Partial<Pick<Landed, 'nonce' | 'txHash' | 'attempts' | 'tried' | 'batch'>> {
  id: string
  transfer: Omit<Transfer, 'message'>
  delivery?: Delivery
  cancelledBy?: Order
  rounds: number
}

/**
 * Tries again now, even if parked or overdue. With `gate`, only if waiting. Without `order`, the author is `unnamed`.
 */
export const retrySignal = defineSignal<[({ gate: true } | { order: Order })?]>('retry')
/** Cancels the transfer: a no-op fills its nonce. If its call is mined instead, the transfer is delivered. */
export const cancelSignal = defineSignal<[{ order: Order }?]>('cancel')
export const expediteSignal = defineSignal<[{ order: Order }?]>('expedite')
/** A copy of the message with newer signatures, base64. `validate` checks its digest. */
export const adoptSignal = defineSignal<[{ message: string; order?: Order }]>('adopt')
/** The lane sends this signal when the nonce is no longer in a block. */
export const rolledBackSignal = defineSignal<[{ intentId: string; nonce: number }]>('rolledBack')
export const statusQuery = defineQuery<TransferStatus>('status')
