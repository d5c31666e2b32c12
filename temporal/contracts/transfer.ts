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
  /** Class among those that wait for a nonce, 1 (first) … 5; absent: 3. */
  priority?: number
  /** ms since the epoch: if it is not delivered by then, its lane gives it up and it is parked. */
  deadline?: number
  /** When its message was seen, ms since the epoch: for the times that metrics show, and nothing else. Absent: when this run began. */
  seenAt?: number
  /** Who had it started, or started again: the first of what is ordered of it. */
  orders?: readonly GivenOrder[]
  /** Carried from run to run when the transfer continues as new. */
  progress?: TransferProgress
  unacknowledged?: UnacknowledgedSignals
}

/** Signals that a transfer has received and not acted upon yet. */
export interface UnacknowledgedSignals {
  woken: boolean
  priority: number
  /** A copy of the message, base64. */
  adopted?: string
  cancelledBy?: Order
}

/** One line of a transfer's timeline. `at`: ms since the epoch, workflow time. */
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
  /** Rounds whose nonce was used by a no-op, or by a transaction from outside Portage. */
  spent: number
  /** Waits so far: each is longer than the one before. */
  waits: number
  /** Chosen last. */
  lane?: LaneId
  /** Lanes that gave no nonce since the last wait, and what the last of them said. */
  turnedAway?: { lanes: LaneId[]; code: ErrorCode; reason: string }
  /** One node showed the effect, and the others denied it. */
  disputed?: true
  /** What this round broadcasts, as far as its lane has told: it may hold a nonce, so the next try goes on with it. */
  underway?: { ready: Ready; nonce?: number; landed?: Landed }
  /** The lanes that earlier rounds were broadcast by, each with the highest nonce that they held there: the transfer ends as cancelled only when none can be mined. */
  left?: LaneNonce[]
  /** Why it waits, is parked, or ended. */
  code?: ErrorCode
  reason?: string
  timeline: TimelineEntry[]
  /** What was signed for it, by every process and in every round, the newest 48. Absent: nothing yet. */
  transactions?: readonly TransferTransaction[]
  /** What was ordered of it, the newest 32. Absent: nothing yet. */
  orders?: readonly GivenOrder[]
}

/** Answer of the query `status`, and (closed) the result of the workflow. */
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
 * From an operator: try now, also out of parked, and past a deadline. The `order` of this and of the other signals of persons says who, and why; one that a
 * hand has typed without it is kept as `unnamed`. From a gate that has opened, or the like (`gate`): only if it waits. */
export const retrySignal = defineSignal<[({ gate: true } | { order: Order })?]>('retry')
/** An operator ends the transfer. A nonce that it holds gets the lane's no-op; if the call wins, the transfer is delivered. */
export const cancelSignal = defineSignal<[{ order: Order }?]>('cancel')
/** From an operator: raise the fee now. */
export const expediteSignal = defineSignal<[{ order: Order }?]>('expedite')
/** A better-signed copy (base64) of the same message; its digest is checked by `validate`. */
export const adoptSignal = defineSignal<[{ message: string; order?: Order }]>('adopt')
/** From the lane: the nonce of this intent is no longer in a block. */
export const rolledBackSignal = defineSignal<[{ intentId: string; nonce: number }]>('rolledBack')
export const statusQuery = defineQuery<TransferStatus>('status')
