import type { ErrorCode } from '../../domain/errors.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { Delivery, Transfer, TransferState } from '../../domain/transfer/transfer.ts'
import type { AttemptRecord, Landed, Ready } from './transfer-steps.ts'
import { defineQuery, defineSignal } from '@temporalio/workflow'

/** Input of the workflow `transfer`. */
export interface TransferInput {
  transfer: Transfer
  /** Class in the lane's waiting room, 1 (first) … 5; absent: 3. */
  priority?: number
  /** ms since the epoch: not delivered by then, it is given up by its lane, and parked. */
  deadline?: number
  /** What a transfer carries from run to run when it continues as new. */
  progress?: TransferProgress
  unacknowledged?: UnacknowledgedSignals
}

/** Who cancels a transfer, and why. */
export interface CancelOrder {
  operator: string
  reason: string
}

/** What signals told a transfer that it has not acted upon yet. */
export interface UnacknowledgedSignals {
  /** A wait is to end now. */
  woken: boolean
  /** Class in the lane's waiting room, 1 (first) … 5. */
  priority: number
  /** A copy of the message, base64. */
  adopted?: string
  cancelledBy?: CancelOrder
}

/** One line of a transfer's timeline. */
export interface TimelineEntry {
  /** ms since the epoch, workflow time. */
  at: number
  state: TransferState
  note: string
}

export interface TransferProgress {
  state: TransferState
  round: number
  /** Rounds that ended with a revert. */
  failures: number
  /** Rounds whose nonce a no-op, or a stranger, used. */
  spent?: number
  /** Waits so far: each is longer than the one before. */
  waits?: number
  lane?: LaneId
  /** Lanes that gave no nonce since the last wait, and what the last of them said. */
  avoid?: LaneId[]
  turnedAway?: { code: ErrorCode; reason: string }
  /** A node that said that someone had delivered was denied by the others. */
  doubted?: true
  /** What is being broadcast: this round may hold a nonce, so it goes on where it was. */
  underway?: Ready
  /** The nonce that this round holds, as far as it was told. */
  nonce?: number
  landed?: Landed
  code?: ErrorCode
  reason?: string
  timeline: TimelineEntry[]
}

/** Answer of the query `status`, and (closed) the result of the workflow. */
export interface TransferStatus {
  id: string
  transfer: Omit<Transfer, 'message'>
  state: TransferState
  lane?: LaneId
  nonce?: number
  txHash?: string
  delivery?: Delivery
  /** Transactions signed for the nonce that was mined: more than one if its fee was raised. */
  attempts?: number
  /** Each of them that the last process signed, with its fee and what became of it. */
  tried?: AttemptRecord[]
  /** Workflow id of the batch that it was delivered in: the nonce is that of the batch. */
  batch?: string
  code?: ErrorCode
  reason?: string
  rounds: number
  timeline: TimelineEntry[]
}

/** By whom a transfer is told to go on, where it is no operator. */
export interface RetryHint {
  /** Its gate has opened: that ends a wait, and nothing else. */
  gate: true
}

/** An operator's word: go on now, out of parked, too, and past a deadline. With a hint: only if it waits. */
export const retrySignal = defineSignal<[RetryHint?]>('retry')
/** An operator ends the transfer. A nonce in flight gets the lane's no-op; if the call wins, the transfer is delivered. */
export const cancelSignal = defineSignal<[CancelOrder]>('cancel')
export const expediteSignal = defineSignal('expedite')
/** A better-signed copy (base64) of the same message; its digest is checked by `validate`. */
export const adoptSignal = defineSignal<[{ message: string }]>('adopt')
/** From the lane: the nonce of this intent is no longer in a block. */
export const rolledBackSignal = defineSignal<[{ intentId: string; nonce: number }]>('rolledBack')
export const statusQuery = defineQuery<TransferStatus>('status')
