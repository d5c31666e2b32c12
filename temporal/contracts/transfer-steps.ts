import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { Attempt, LaneId } from '../../domain/lane/lane.ts'
import type { LaneStatus } from '../../domain/lane/messages.ts'
import type { SignedAttempt } from '../../domain/transfer/attempts.ts'
import type { CallPlan } from '../../domain/transfer/call-plan.ts'
import type { ChainName, Delivery, ParkLimits, Transfer } from '../../domain/transfer/transfer.ts'

/** Steps that need no key, on the queue of the target chain. */
export interface KeylessSteps {
  /** Does the work of `validate`, `checkDelivered` and `prepare` in one local activity. */
  admit(input: AdmitInput): Promise<Admission>
  validate(input: { transfer: Transfer }): Promise<Passed | Stopped>
  checkDelivered(input: AdmitInput): Promise<Passed | Stopped>
  prepare(input: AdmitInput): Promise<Ready | Stopped>
  /** Reads the effect from the target's finalized state. Waits up to `waitMs` until the block of `landed` is final. */
  confirm(input: ConfirmInput): Promise<Confirmation>
  getLaneStatus(input: { chain: ChainName; lane: LaneId }): Promise<LaneStatusAnswer>
  withdraw(input: WithdrawInput): Promise<Withdrawal>
  /** Whether a transaction of the transfer may still cause the effect. Called before a transfer ends undelivered. */
  confirmEnd(input: ConfirmEndInput): Promise<EndConfirmation>
}

/** Steps that need the key, on the lane's queue. */
export interface LaneSteps {
  broadcast(input: BroadcastInput): Promise<BroadcastResult>
  expedite(input: { lane: LaneId; intentId: string }): Promise<void>
}

/** Steps on the queue of the target chain, for processes that also hold the key. */
export interface LocalBroadcastSteps {
  /** Answers `elsewhere` if this process cannot broadcast. It has then sent nothing. */
  broadcastLocally(input: BroadcastInput): Promise<BroadcastResult | { kind: 'elsewhere' }>
}

export interface AdmitInput {
  transfer: Transfer
  avoid?: LaneId[]
  /** A node showed the effect, but most nodes denied it. One node alone can no longer stop the transfer. */
  disputed?: true
  /** Time of the last retry, ms since the epoch. Losses before this time do not quarantine the transfer. */
  retriedAt?: number
  /**
   * True after a delivery reverted, or after a lane quarantined the transfer. The call must not run the recipient's
   * code.
   */
  wrapped?: boolean
  /** Start of the transfer, ms since the epoch, for metrics. Absent after the first try. */
  startedAt?: number
}

export type Passed = { kind: 'passed' }

export type Stopped =
  /** `awaitNewSignatures`: the signatures are outdated. The transfer may adopt a copy with newer signatures. */
  | { kind: 'rejected' | 'declined'; code: ErrorCode; reason: string; awaitNewSignatures?: true }
  | { kind: 'delivered'; delivery: Delivery }
  /** The effect is not final. Check again after `finalInMs`. */
  | { kind: 'unsettled'; finalInMs: number }
  /** The transfer gets no nonce for now. `unverified`: its signatures are not checked yet. */
  | { kind: 'waiting'; code: ErrorCode; reason: string; retryInMs: number; unverified?: true }
  /** The message with its attestation, base64. Admit the transfer again with this message. */
  | { kind: 'attested'; message: string }
  /** Waiting cannot make the delivery possible. */
  | { kind: 'impossible'; code: ErrorCode; reason: string }

export interface Ready extends Omit<Attempt, 'kind'> {
  kind: 'ready'
  lane: LaneId
  /** Hash of (to, value, data). The ledger accepts only a call with this hash for the intent. */
  callHash: string
  /** Absent: `defaultParkAfter`. */
  parkAfter?: ParkLimits
  /** If the delivery takes several calls: the stage that this call is for. */
  stage?: string
  /** Set for a plug-in package, whose code does not run in the process with the key. */
  plan?: CallPlan
  /** The process that admitted the transfer also has the key, and has reserved a step slot for a short time. */
  local?: true
}

export type Admission = Ready | Stopped
export type Waiting = Extract<Stopped, { kind: 'waiting' }>

export interface BroadcastInput extends Omit<Ready, 'kind' | 'local' | 'parkAfter'>, Pick<AdmitInput, 'retriedAt'> {
  intentId: string
  transfer: Transfer
  mode: BroadcastMode
  /** From 1 (first) to 5. */
  priority: number
  /** ms since the epoch. Among transfers of equal priority and source, the earliest deadline goes first. */
  deadline?: number
  seenAt?: number
}

/**
 * `requeued`: a worker may already have had this task. `follow`: the step follows the intent's nonce and gets no new
 * one.
 */
export type BroadcastMode = 'new' | 'requeued' | 'follow'

export type AttemptRecord = SignedAttempt

export interface Landed {
  nonce: number
  txHash: string
  blockHeight: number
  blockHash: string
  /** Wei, decimal. */
  gasPaid: string
  attempts: number
  tried: AttemptRecord[]
  /** Workflow id of the batch. `gasPaid` is then the share of this transfer. */
  batch?: string
  /** When the transaction was first seen in a block, ms since the epoch, for metrics. Set only at the first try. */
  includedAt?: number
}

export type BroadcastResult =
  | { kind: 'delivered'; landed: Landed }
  /** The call of `stage` is final, and the transfer needs another call. */
  | { kind: 'passed'; landed: Landed }
  | { kind: 'included'; landed: Landed; finalInMs: number }
  /** Not in a block yet. Call again with the same intent. `tried`: attempts that this process signed. */
  | { kind: 'pending'; nonce: number; attempts: number; reason: string; tried: AttemptRecord[] }
  /**
   * The lane grants no nonce: it is paused, full, out of funds and so on. With `retryInMs`, no other lane would help.
   */
  | { kind: 'no-slot'; code: ErrorCode; reason: string; retryInMs?: number }
  /** The call is final, but it reverted or had no effect. */
  | { kind: 'reverted'; landed: Landed; reason: string }
  /** A no-op or an external transaction used the nonce in a final block. */
  | { kind: 'spent'; nonce: number; by: 'noop' | 'external'; tried: AttemptRecord[] }
  /** The intent was withdrawn, or its nonce is final without the effect. */
  | { kind: 'withdrawn' }
  /** Admit the transfer again: the chain may show the effect, or the transfer's batch failed. */
  | { kind: 'seen' }

export interface ConfirmInput {
  transfer: Transfer
  /** Portage's own transaction. Absent if somebody else may have caused the effect. */
  landed?: Landed
  /** The stage of the round. The answer is `passed` if the effect of this stage is final and another call is needed. */
  stage?: string | undefined
  waitMs: number
  /** Most nodes must agree that there is no effect, because the transfer would otherwise end undelivered by mistake. */
  requireAgreement?: true
  seenAt?: number
}

export type Confirmation =
  | { kind: 'delivered'; delivery: Delivery }
  | { kind: 'passed'; delivery: Delivery }
  | { kind: 'unsettled'; finalInMs: number }
  | { kind: 'reverted'; reason: string }
  /** The effect was rolled back, or was never there. */
  | { kind: 'gone' }

export interface LaneNonce {
  lane: LaneId
  nonce?: number
}

export interface ConfirmEndInput {
  transfer: Transfer
  intentId: string
  nonces: LaneNonce[]
}

export type EndConfirmation =
  | { kind: 'delivered'; delivery: Delivery }
  | { kind: 'free' }
  /** These nonces may still be mined and cause the effect. */
  | { kind: 'held'; nonces: LaneNonce[] }
  | { kind: 'unsettled'; finalInMs: number }

export interface LaneStatusAnswer {
  lane: LaneStatus
  others: number
  /** Time (ms) for which a transfer leaves its nonce with a lane that is forbidden or has no worker. */
  abandonAfterMs: number
}

export interface WithdrawInput {
  lane: LaneId
  intentId: string
  /**
   * `leave` withdraws the intent only if it has no nonce. `cancel` fills the nonce with a no-op. `abandon` leaves the
   * nonce to the lane.
   */
  how: 'leave' | 'cancel' | 'abandon'
}

export type Withdrawal = { kind: 'free' } | { kind: 'held'; nonce: number }
