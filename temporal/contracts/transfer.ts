import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { Order, GivenOrder } from '../../domain/order.ts'
import type { LaneId } from '../../domain/lane/lane.ts'
import type { TransferTransaction } from '../../domain/transfer/attempts.ts'
import type { Delivery, Transfer, TransferState } from '../../domain/transfer/transfer.ts'
import type { LaneNonce, Landed, Ready } from './transfer-steps.ts'
import { defineQuery, defineSignal } from '@temporalio/workflow'

export interface TransferInput {
  transfer: Transfer
  /** From 1 (first) to 5. Absent: 3. */
  priority?: number
  /** ms since the epoch. An undelivered transfer is parked then. */
  deadline?: number
  /** ms since the epoch, for metrics only. Absent: when this run began. */
  seenAt?: number
  /** From the person who had the transfer started, or started again. */
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

/** `at`: ms since the epoch, workflow time. */
export interface TimelineEntry {
  at: number
  state: TransferState
  note: string
}

export interface TransferProgress {
  state: TransferState
  round: number
  /** Reverted rounds. */
  failures: number
  /** Rounds whose nonce something else used. */
  spent: number
  /** Each wait is longer than the one before. */
  waits: number
  lane?: LaneId
  /** Lanes without a nonce since the last wait, and the last reason. */
  turnedAway?: { lanes: LaneId[]; code: ErrorCode; reason: string }
  disputed?: true
  /** May hold a nonce, so the next try goes on with it. */
  underway?: { ready: Ready; nonce?: number; landed?: Landed }
  /** With their highest nonces. A cancelled transfer ends only when none can be mined. */
  left?: LaneNonce[]
  code?: ErrorCode
  reason?: string
  timeline: TimelineEntry[]
  /** The newest 48, of any process. */
  transactions?: readonly TransferTransaction[]
  /** The newest 32. */
  orders?: readonly GivenOrder[]
}

/** Answer of the query `status`, and result. */
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

/** Try now, even if parked or overdue. Without `order` kept as `unnamed`. `gate` wakes only a waiting transfer. */
export const retrySignal = defineSignal<[({ gate: true } | { order: Order })?]>('retry')
/** Its nonce gets the lane's no-op. If its call is mined instead, the transfer is delivered. */
export const cancelSignal = defineSignal<[{ order: Order }?]>('cancel')
export const expediteSignal = defineSignal<[{ order: Order }?]>('expedite')
/** A better-signed copy, base64. `validate` checks its digest. */
export const adoptSignal = defineSignal<[{ message: string; order?: Order }]>('adopt')
/** From the lane: this nonce is no longer in a block. */
export const rolledBackSignal = defineSignal<[{ intentId: string; nonce: number }]>('rolledBack')
export const statusQuery = defineQuery<TransferStatus>('status')
