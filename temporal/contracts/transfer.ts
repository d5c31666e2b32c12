import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { Order, GivenOrder } from '../../domain/order.ts'
import type { LaneId } from '../../domain/lane/lane.ts'
import type { TransferTransaction } from '../../domain/transfer/attempts.ts'
import type { TimelineEntry } from '../../domain/transfer/timeline.ts'
import type { Delivery, Transfer, TransferState } from '../../domain/transfer/transfer.ts'
import type { LaneNonce, Landed, ReasonFacts, Ready } from './transfer-steps.ts'
import { defineQuery, defineSignal } from '@temporalio/workflow'

export interface TransferInput {
  transfer: Transfer
  /** From 1 (first) to 5. Default: 3. */
  priority?: number
  /** ms since the epoch. An undelivered transfer is then parked. */
  deadline?: number
  /**
   * The deadline as a time after the start, ms. It counts if the clock of the process that made `deadline` was wrong.
   */
  withinMs?: number
  /** When the message was seen, ms since the epoch. Default: when this run began. */
  seenAt?: number
  orders?: readonly GivenOrder[]
  progress?: TransferProgress
  unacknowledged?: UnacknowledgedSignals
}

export interface UnacknowledgedSignals {
  woken: boolean
  priority: number
  /** A copy of the message with newer signatures, base64. */
  adopted?: string
  cancelledBy?: Order
}

export interface TransferProgress extends ReasonFacts {
  state: TransferState
  round: number
  failures: number
  /**
   * Sum of the gas limits of the failed calls, which a payment may limit. A person's retry and a new stage reset the
   * sum, but an opened gate does not. Absent: 0.
   */
  failedGas?: number
  spent: number
  waits: number
  lane?: LaneId
  /** Lanes that the transfer has left since its last wait. `code` and `reason` are those of the last lane. */
  turnedAway?: { lanes: LaneId[]; code: ErrorCode; reason: string }
  disputed?: true
  /** A lane refused a nonce, because the recipient or the token is quarantined. A retry removes this field. */
  quarantined?: true
  /** The round may hold a nonce, so the next try continues the round. */
  underway?: {
    ready: Ready
    nonce?: number
    landed?: Landed
    /** When the lane stopped working, ms since the epoch. Absent while the lane works. */
    strandedAt?: number | undefined
  }
  /**
   * Each lane that the transfer has left, with the highest nonce that the transfer held there. A cancelled transfer
   * ends only once none of these nonces can be mined.
   */
  left?: LaneNonce[]
  code?: ErrorCode
  reason?: string
  timeline: TimelineEntry[]
  transactions?: readonly TransferTransaction[]
  orders?: readonly GivenOrder[]
}

export interface TransferStatus
  extends
    Pick<TransferProgress, 'state' | 'lane' | 'code' | 'reason' | keyof ReasonFacts | 'timeline' | 'transactions' | 'orders'>,
    Partial<Pick<Landed, 'nonce' | 'txHash' | 'attempts' | 'tried' | 'batch'>> {
  id: string
  transfer: Omit<Transfer, 'message'>
  delivery?: Delivery
  cancelledBy?: Order
  rounds: number
}

/** Without `order`, the author is `unnamed`. `gate`: sent in place of `wake` by 1.0.0. */
export const retrySignal = defineSignal<[({ gate: true } | { order: Order })?]>('retry')
/** Something that the transfer may wait for has changed. A waiting transfer tries again. A parked one stays parked. */
export const wakeSignal = defineSignal('wake')
/** A no-op fills the nonce. If a block includes the call instead, the transfer is delivered. */
export const cancelSignal = defineSignal<[{ order: Order }?]>('cancel')
export const expediteSignal = defineSignal<[{ order: Order }?]>('expedite')
/** Brings a copy of the message with newer signatures, base64. `validate` checks the digest. */
export const adoptSignal = defineSignal<[{ message: string; order?: Order }]>('adopt')
/** Sent by a lane to the owner of a nonce whose block a reorg removed. */
export const rolledBackSignal = defineSignal<[{ intentId: string; nonce: number }]>('rolledBack')
export const statusQuery = defineQuery<TransferStatus>('status')
