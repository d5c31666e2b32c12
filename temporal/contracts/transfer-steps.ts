import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { Attempt } from '../../domain/lane/lane.ts'
import type { LaneStatus } from '../../domain/lane/messages.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { SignedAttempt } from '../../domain/transfer/attempts.ts'
import type { ChainName, Delivery, Transfer } from '../../domain/transfer/transfer.ts'

/** Steps that need no key, on the queue of the target chain. */
export interface KeylessSteps {
  /** `validate`, `checkDelivered` and `prepare` at once, as one local activity. */
  admit(input: AdmitInput): Promise<Admission>
  validate(input: { transfer: Transfer }): Promise<Passed | Stopped>
  checkDelivered(input: AdmitInput): Promise<Passed | Stopped>
  prepare(input: AdmitInput): Promise<Ready | Stopped>
  /**
   * Whether the target chain's finalized state shows the effect. Waits up to `waitMs` for the block to become final.
   */
  confirm(input: ConfirmInput): Promise<Confirmation>
  getLaneStatus(input: { chain: ChainName; lane: LaneId }): Promise<LaneStatusAnswer>
  /** Asks the ledger to withdraw an intent. */
  withdraw(input: WithdrawInput): Promise<Withdrawal>
  /** Asked before a transfer ends undelivered: whether any of its transactions may still be mined with the effect. */
  confirmEnd(input: ConfirmEndInput): Promise<EndConfirmation>
}

/** Steps that need the key, on the lane's queue. */
export interface LaneSteps {
  broadcast(input: BroadcastInput): Promise<BroadcastResult>
  /** Raises the fee of an intent's transaction now. */
  expedite(input: { lane: LaneId; intentId: string }): Promise<void>
}

/** Steps that need the key, on the queue of the target chain, where the workflow's process holds the key. */
export interface LocalBroadcastSteps {
  /** `elsewhere`: this process cannot do it now; nothing was sent. */
  broadcastLocally(input: BroadcastInput): Promise<BroadcastResult | { kind: 'elsewhere' }>
}

export interface AdmitInput {
  transfer: Transfer
  /** Lanes that this transfer just left. */
  avoid?: LaneId[]
  /** One node showed the effect and most denied it. Its word alone no longer stops the transfer. */
  disputed?: true
  /** When an operator last ordered `retry`, ms since the epoch. Earlier losses do not quarantine the transfer. */
  retriedAt?: number
  /** When the workflow began, ms since the epoch, for metrics. Absent after the first try. */
  startedAt?: number
}

export type Passed = { kind: 'passed' }

/** The step ends or delays the transfer. */
export type Stopped =
  /** `awaitNewSignatures`: the signatures are good but outdated; a copy with newer ones may be adopted. */
  | { kind: 'rejected' | 'declined'; code: ErrorCode; reason: string; awaitNewSignatures?: true }
  /** Delivered and final. */
  | { kind: 'delivered'; delivery: Delivery }
  /** Someone made the effect, and it is not final. Check again after `finalInMs`. */
  | { kind: 'unsettled'; finalInMs: number }
  /** A gate is closed, and the transfer holds no nonce. `unverified`: the signatures were not checked yet. */
  | { kind: 'waiting'; code: ErrorCode; reason: string; retryInMs: number; unverified?: true }
  /** The simulation reverts, and waiting does not help. Costs nothing. */
  | { kind: 'impossible'; code: ErrorCode; reason: string }

/** The transfer can be broadcast through this lane, with this first attempt. */
export interface Ready extends Omit<Attempt, 'kind'> {
  kind: 'ready'
  lane: LaneId
  /** Hash of (to, value, data). The ledger accepts no other call for the intent. */
  callHash: string
  /** The process of the admission holds the lane's key, and keeps a slot for this transfer for a moment. */
  local?: true
}

export type Admission = Ready | Stopped

export interface BroadcastInput extends Omit<Ready, 'kind' | 'local'>, Pick<AdmitInput, 'retriedAt'> {
  /**
   * Workflow and round. A new round is a new intent; it begins only when the last one's nonce was used up without the
   * effect.
   */
  intentId: string
  transfer: Transfer
  mode: BroadcastMode
  /** Priority class for a nonce, from 1 (first) to 5. */
  priority: number
  /** ms since the epoch. Within one class and source the earliest goes first. */
  deadline?: number
  /** See `TransferInput`. */
  seenAt?: number
}

/**
 * `new`: never broadcast. `requeued`: queued again, so that a worker may have had it. `follow`: goes on with its nonce,
 * and gets no other.
 */
export type BroadcastMode = 'new' | 'requeued' | 'follow'

/** A transaction that was signed for a nonce, and its fate. */
export type AttemptRecord = SignedAttempt

/** A transaction of ours in a block. */
export interface Landed {
  nonce: number
  txHash: string
  blockHeight: number
  blockHash: string
  /** Wei, decimal. */
  gasPaid: string
  attempts: number
  tried: AttemptRecord[]
  /** Workflow id of the batch that holds the nonce. `gasPaid` is the transfer's share. */
  batch?: string
  /**
   * When the process that followed it saw it in a block, ms since the epoch, for metrics. Absent: it was final by then,
   * or was not seen at the first try.
   */
  includedAt?: number
}

export type BroadcastResult =
  /** In a final block, with the effect. */
  | { kind: 'delivered'; landed: Landed }
  /** In a block, with the effect, that is not final yet. */
  | { kind: 'included'; landed: Landed; finalInMs: number }
  /** Sent, in no block. Call again later with the same intent. `tried`: transactions that this process signed. */
  | { kind: 'pending'; nonce: number; attempts: number; reason: string; tried: AttemptRecord[] }
  /** No nonce was granted: the lane is paused, full, out of funds and so on. */
  | { kind: 'no-slot'; code: ErrorCode; reason: string }
  /** In a final block, and reverted or without the effect. The nonce is used up. */
  | { kind: 'reverted'; landed: Landed; reason: string }
  /** A no-op of the lane, or a transaction from outside Portage, used the nonce in a final block. */
  | { kind: 'spent'; nonce: number; by: 'noop' | 'external'; tried: AttemptRecord[] }
  /** The lane no longer holds the intent: it was withdrawn, or its nonce is final without the effect. */
  | { kind: 'withdrawn' }
  /** Someone made the effect, and this intent holds no nonce. Go back to step 2. */
  | { kind: 'seen' }

export interface ConfirmInput {
  transfer: Transfer
  /** Our included transaction, if the effect is ours. */
  landed?: Landed
  waitMs: number
  /** The transfer ends if the effect is not there, so the nodes must agree. */
  requireAgreement?: true
  /** See `TransferInput`. */
  seenAt?: number
}

export type Confirmation =
  | { kind: 'delivered'; delivery: Delivery }
  | { kind: 'unsettled'; finalInMs: number }
  /** Our transaction is in a final block without the effect. The nonce is used up. */
  | { kind: 'reverted'; reason: string }
  /** Rolled back, or never there. */
  | { kind: 'gone' }

/**
 * A lane that broadcast a transfer. `nonce`: the highest that the transfer is known to have held there. Absent: none is
 * known.
 */
export interface LaneNonce {
  lane: LaneId
  nonce?: number
}

export interface ConfirmEndInput {
  transfer: Transfer
  /** The intent of its present round. */
  intentId: string
  /** The nonces of earlier rounds. Further nonces that ledgers hold for it are found too. */
  nonces: LaneNonce[]
}

export type EndConfirmation =
  | { kind: 'delivered'; delivery: Delivery }
  /** Most nodes show every nonce as final, and the effect nowhere. */
  | { kind: 'free' }
  /** These may still be mined with the effect. */
  | { kind: 'held'; nonces: LaneNonce[] }
  /** The nodes do not agree, or show an effect that is not final yet. */
  | { kind: 'unsettled'; finalInMs: number }

export interface LaneStatusAnswer {
  lane: LaneStatus
  /** How many other lanes of the chain take work. */
  others: number
  /** How long a transfer with a nonce stays with a forbidden or unserved lane, ms. */
  abandonAfterMs: number
}

export interface WithdrawInput {
  lane: LaneId
  intentId: string
  /**
   * `leave`: only if it holds no nonce. `cancel`: the lane fills a held nonce with a no-op. `abandon`: a held nonce
   * becomes the lane's orphan.
   */
  how: 'leave' | 'cancel' | 'abandon'
}

export type Withdrawal = { kind: 'free' } | { kind: 'held'; nonce: number }
