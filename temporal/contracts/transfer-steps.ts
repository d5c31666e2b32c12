import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { Attempt } from '../../domain/lane/lane.ts'
import type { LaneStatus } from '../../domain/lane/messages.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { SignedAttempt } from '../../domain/transfer/attempts.ts'
import type { ChainName, Delivery, Transfer } from '../../domain/transfer/transfer.ts'

/** Steps that need no key, on the queue of the target chain. */
export interface KeylessSteps {
  /** The next three at once, as one local activity. */
  admit(input: AdmitInput): Promise<Admission>
  validate(input: { transfer: Transfer }): Promise<Passed | Stopped>
  checkDelivered(input: AdmitInput): Promise<Passed | Stopped>
  prepare(input: AdmitInput): Promise<Ready | Stopped>
  /** Does the target chain's finalized state show the effect? Waits up to `waitMs` for the block to become final. */
  confirm(input: ConfirmInput): Promise<Confirmation>
  getLaneStatus(input: { chain: ChainName; lane: LaneId }): Promise<LaneStatusAnswer>
  /** Asks the ledger to let an intent go. */
  withdraw(input: WithdrawInput): Promise<Withdrawal>
  /** Asked before a transfer ends undelivered: can anything that was ever sent for it still be mined with the effect? */
  confirmEnd(input: ConfirmEndInput): Promise<EndConfirmation>
}

/** Steps that need the key, on the lane's queue. */
export interface LaneSteps {
  broadcast(input: BroadcastInput): Promise<BroadcastResult>
  /** Raises the fee of an intent's transaction now. */
  expedite(input: { lane: LaneId; intentId: string }): Promise<void>
}

/** Steps that need the key, where the process of the workflow holds it: on the queue of the target chain. */
export interface LocalBroadcastSteps {
  /** `elsewhere`: this process cannot, now; nothing was sent. */
  broadcastLocally(input: BroadcastInput): Promise<BroadcastResult | { kind: 'elsewhere' }>
}

export interface AdmitInput {
  transfer: Transfer
  /** Lanes that this transfer just left. */
  avoid?: LaneId[]
  /** One node showed the effect, and most denied it: its word alone does not stop the transfer any more. */
  disputed?: true
  /** When an operator last ordered `retry`, ms since the epoch: it is not set aside for losses before that. */
  retriedAt?: number
  /** When the workflow began, ms since the epoch: for the times that metrics show. Absent: this is not the first try. */
  startedAt?: number
}

export type Passed = { kind: 'passed' }

/** The step ends or delays the transfer. */
export type Stopped =
  /** `awaitNewSignatures`: the signatures were good and are too old now; a copy with newer ones may be adopted. */
  | { kind: 'rejected' | 'declined'; code: ErrorCode; reason: string; awaitNewSignatures?: true }
  /** Delivered and final. */
  | { kind: 'delivered'; delivery: Delivery }
  /** The effect is there, by someone, but not final: look again after `finalInMs`. */
  | { kind: 'unsettled'; finalInMs: number }
  /** Not now: a gate is closed. Holds no nonce. `unverified`: the signatures could not be checked yet. */
  | { kind: 'waiting'; code: ErrorCode; reason: string; retryInMs: number; unverified?: true }
  /** The simulation reverts for a reason that no wait heals; costs nothing. */
  | { kind: 'impossible'; code: ErrorCode; reason: string }

/** Can be broadcast through this lane, with this first attempt. */
export interface Ready extends Omit<Attempt, 'kind'> {
  kind: 'ready'
  lane: LaneId
  /** Hash of (to, value, data): what the ledger holds the intent to. */
  callHash: string
  /** The process of the admission holds the lane's key, and keeps a slot for this transfer for a moment. */
  local?: true
}

export type Admission = Ready | Stopped

export interface BroadcastInput extends Omit<Ready, 'kind' | 'local'>, Pick<AdmitInput, 'retriedAt'> {
  /** Its workflow and the round: a new round is a new intent, made only when the last one's nonce was used up without effect. */
  intentId: string
  transfer: Transfer
  mode: BroadcastMode
  /** Class among those that wait for a nonce, 1 (first) … 5. */
  priority: number
  /** ms since the epoch: of one class and source, the earliest is served first. */
  deadline?: number
  /** See `TransferInput`. */
  seenAt?: number
}

/** `new`: never broadcast. `requeued`: queued again after long, so that a worker may have had it. `follow`: it goes on with its nonce, and gets no other. */
export type BroadcastMode = 'new' | 'requeued' | 'follow'

/** One transaction that was signed for a nonce, and what became of it. */
export type AttemptRecord = SignedAttempt

/** One transaction of ours in a block. */
export interface Landed {
  nonce: number
  txHash: string
  blockHeight: number
  blockHash: string
  /** Wei, decimal. */
  gasPaid: string
  attempts: number
  tried: AttemptRecord[]
  /** Workflow id of the batch whose nonce it is; `gasPaid` is its share. */
  batch?: string
  /** When the process that followed it saw it in a block, ms since the epoch: for the times that metrics show. Absent: it was final by then, or not seen at its first try. */
  includedAt?: number
}

export type BroadcastResult =
  /** In a final block, with the effect. */
  | { kind: 'delivered'; landed: Landed }
  /** In a block, with the effect, that is not final yet. */
  | { kind: 'included'; landed: Landed; finalInMs: number }
  /** Sent, not in a block: call again later, the same intent. `tried`: what this process signed; absent in results of earlier versions, as of `spent`. */
  | { kind: 'pending'; nonce: number; attempts: number; reason: string; tried?: AttemptRecord[] }
  /** No nonce was given: the lane is paused, full, out of funds… */
  | { kind: 'no-slot'; code: ErrorCode; reason: string }
  /** In a final block and reverted (or without the effect). The nonce is used up. */
  | { kind: 'reverted'; landed: Landed; reason: string }
  /** The nonce was used by a no-op of the lane or by a transaction from outside Portage; final. */
  | { kind: 'spent'; nonce: number; by: 'noop' | 'external'; tried?: AttemptRecord[] }
  /** The lane does not hold the intent any more: it was withdrawn, or its nonce is final and the effect is not there. */
  | { kind: 'withdrawn' }
  /** The effect is there, by someone, and this intent holds no nonce: look again at step 2. */
  | { kind: 'seen' }

export interface ConfirmInput {
  transfer: Transfer
  /** Our transaction that was included, if the effect is ours. */
  landed?: Landed
  waitMs: number
  /** The transfer ends if the effect is not there: the nodes must agree on that. */
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

/** A lane that was asked to broadcast a transfer. `nonce`: the highest that it is known to have held there; absent: none was ever told. */
export interface LaneNonce {
  lane: LaneId
  nonce?: number
}

export interface ConfirmEndInput {
  transfer: Transfer
  /** The intent of its present round. */
  intentId: string
  /** What its earlier rounds held. Nonces that ledgers hold for it beside these are found, too. */
  nonces: LaneNonce[]
}

export type EndConfirmation =
  | { kind: 'delivered'; delivery: Delivery }
  /** Every nonce of it is final by the word of most nodes, and so is that the effect is not there. */
  | { kind: 'free' }
  /** These may still be mined with the effect. */
  | { kind: 'held'; nonces: LaneNonce[] }
  /** The nodes do not agree, or show an effect that is not final yet. */
  | { kind: 'unsettled'; finalInMs: number }

export interface LaneStatusAnswer {
  lane: LaneStatus
  /** How many other lanes of the chain take work. */
  others: number
  /** A transfer that holds a nonce stays this long, ms, with a lane that is forbidden or unserved. */
  abandonAfterMs: number
}

export interface WithdrawInput {
  lane: LaneId
  intentId: string
  /** `cancel`: if a nonce is held, the lane fills it with a no-op. `abandon`: the nonce becomes the lane's orphan. `leave`: only if free. */
  how: 'leave' | 'cancel' | 'abandon'
}

export type Withdrawal = { kind: 'free' } | { kind: 'held'; nonce: number }
