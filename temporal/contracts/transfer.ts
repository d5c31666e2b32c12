import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { Order, GivenOrder } from '../../domain/order.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { TransferTransaction } from '../../domain/transfer/attempts.ts'
import type { Delivery, Transfer, TransferState } from '../../domain/transfer/transfer.ts'
import type { LaneNonce, Landed, Ready } from './transfer-steps.ts'
import { defineQuery, defineSignal } from '@temporalio/workflow'

/** Input of the workflow `transfer`. */
export interface TransferInput {
  transfer: Transfer
  /** Priority class for a nonce, from 1 (first) to 5. Absent: 3. */
  priority?: number
  /** ms since the epoch. A transfer that is not delivered by then is parked. */
  deadline?: number
  /** When its message was seen, ms since the epoch, for metrics only. Absent: when this run began. */
  seenAt?: number
  /** The first order: who had the transfer started, or started again. */
  orders?: readonly GivenOrder[]
  /** Carried from run to run. */
  progress?: TransferProgress
  unacknowledged?: UnacknowledgedSignals
}

/** Signals that the transfer has not acted upon. */
export interface UnacknowledgedSignals {
  woken: boolean
  priority: number
  /** A copy of the message, base64. */
  adopted?: string
  cancelledBy?: Order
}

/** One line of a timeline. `at`: ms since the epoch, workflow time. */
export interface TimelineEntry {
  at: number
  state: TransferState
  note: string
}

export interface TransferProgress {
  state: TransferState
  round: number
  /** Rounds that ended with a revert. */
  failures: number
  /** Rounds whose nonce a no-op, or a transaction from outside Portage, used. */
  spent: number
  /** Number of waits. Each is longer than the one before. */
  waits: number
  /** The lane of the last broadcast. */
  lane?: LaneId
  /** Lanes that granted no nonce since the last wait, and the reason of the last one. */
  turnedAway?: { lanes: LaneId[]; code: ErrorCode; reason: string }
  /** One node showed the effect, and most denied it. */
  disputed?: true
  /** The broadcast of this round. It may hold a nonce, so the next try goes on with it. */
  underway?: { ready: Ready; nonce?: number; landed?: Landed }
  /**
   * The lanes of earlier rounds, each with the highest nonce that was held there. A cancelled transfer ends only when
   * none of them can be mined.
   */
  left?: LaneNonce[]
  /** Why it waits, is parked, or ended. */
  code?: ErrorCode
  reason?: string
  timeline: TimelineEntry[]
  /** The newest 48 transactions that any process signed for it. Absent: none. */
  transactions?: readonly TransferTransaction[]
  /** The newest 32 orders. Absent: none. */
  orders?: readonly GivenOrder[]
}

/** Answer of the query `status`, and result of the workflow. */
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
 * An operator's order to try now, even if the transfer is parked or past its deadline. `order` names author and reason,
 * here and in the other signals; without it the order is kept as `unnamed`. `gate`: a gate opened, which wakes only a
 * waiting transfer.
 */
export const retrySignal = defineSignal<[({ gate: true } | { order: Order })?]>('retry')
/**
 * Ends the transfer. A nonce that it holds gets the lane's no-op. If its call is mined instead, the transfer is
 * delivered.
 */
export const cancelSignal = defineSignal<[{ order: Order }?]>('cancel')
/** Raises the fee now. */
export const expediteSignal = defineSignal<[{ order: Order }?]>('expedite')
/** A better-signed copy of the same message, base64. `validate` checks its digest. */
export const adoptSignal = defineSignal<[{ message: string; order?: Order }]>('adopt')
/** From the lane: the nonce of this intent is no longer in a block. */
export const rolledBackSignal = defineSignal<[{ intentId: string; nonce: number }]>('rolledBack')
export const statusQuery = defineQuery<TransferStatus>('status')
