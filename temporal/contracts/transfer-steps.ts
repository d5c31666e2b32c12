import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { FeeLimit } from '../../domain/fees/fees.ts'
import type { Attempt, LaneId } from '../../domain/lane/lane.ts'
import type { LaneStatus } from '../../domain/lane/messages.ts'
import type { SignedAttempt } from '../../domain/transfer/attempts.ts'
import type { CallPlan } from '../../domain/transfer/call-plan.ts'
import type { ShadowCall } from '../../domain/transfer/shadow.ts'
import type { ChainName, Delivery, ParkLimits, Transfer } from '../../domain/transfer/transfer.ts'

/** These steps need no key, and run on the queue of the target chain. */
export interface KeylessSteps {
  /** Does the work of `validate`, `checkDelivered` and `prepare` in one local activity. */
  admit(input: AdmitInput): Promise<Admission>
  validate(input: AdmitInput): Promise<Passed | Stopped>
  checkDelivered(input: AdmitInput): Promise<Passed | Stopped>
  prepare(input: AdmitInput): Promise<Ready | Stopped>
  /** Reads the target's finalized state. Waits up to `waitMs` until the block of `landed` is final. */
  confirm(input: ConfirmInput): Promise<Confirmation>
  getLaneStatus(input: { chain: ChainName; lane: LaneId }): Promise<LaneStatusAnswer>
  withdraw(input: WithdrawInput): Promise<Withdrawal>
  /** Runs before a transfer ends undelivered, because one of its transactions may still cause the effect. */
  confirmEnd(input: ConfirmEndInput): Promise<EndConfirmation>
}

/** These steps need the key, and run on the lane's queue. */
export interface LaneSteps {
  broadcast(input: BroadcastInput): Promise<BroadcastResult>
  expedite(input: { lane: LaneId; intentId: string }): Promise<void>
}

/** These steps run on the queue of the target chain, in processes that have the key. */
export interface LocalBroadcastSteps {
  /** `elsewhere`: this process cannot broadcast, and sends nothing. */
  broadcastLocally(input: BroadcastInput): Promise<BroadcastResult | { kind: 'elsewhere' }>
}

export interface AdmitInput {
  transfer: Transfer
  avoid?: LaneId[]
  /**
   * One node showed the effect, but most nodes denied it. From then on, the answer of one node does not stop the
   * transfer.
   */
  disputed?: true
  /** Time of the last retry, ms since the epoch. Earlier losses do not quarantine the transfer. */
  retriedAt?: number
  /**
   * True after a revert or quarantine. If the bridge has a call that runs no code of the recipient, this call is used.
   */
  wrapped?: boolean
  /**
   * The stage's calls that reverted. `gas`: their total gas limit since a person's last retry. `calls`: their number
   * since the last retry by a person or an opened gate. Absent: an older version did not count the gas, so a payment
   * covers one call.
   */
  reverted?: { calls: number; gas: number }
  /** ms since the epoch, for metrics. Only set at the first try. */
  startedAt?: number
}

export type Passed = { kind: 'passed' }

/**
 * How a call failed. `reverted`: it reverts, or it was mined without effect. `disputed`: one node says that it reverts,
 * and the nodes do not agree. `refused`: nodes refused it. `spent`: its nonce is used. Reasons of `disputed` and
 * `refused` may contain words of nodes.
 */
export type FailedCall = 'reverted' | 'disputed' | 'refused' | 'spent'

/** The reason of a state, as data. */
export interface ReasonFacts {
  failedCall?: FailedCall | undefined
  feeLimit?: FeeLimit | undefined
  shadowCall?: ShadowCall | undefined
}

export type Stopped =
  /** `awaitNewSignatures`: the transfer may adopt a copy with newer signatures. */
  | { kind: 'rejected' | 'declined'; code: ErrorCode; reason: string; awaitNewSignatures?: true }
  | { kind: 'delivered'; delivery: Delivery }
  /** The effect is not final. The workflow checks again after `finalInMs`. */
  | { kind: 'unsettled'; finalInMs: number }
  /** `unverified`: the transfer's signatures were not checked yet. */
  | ({ kind: 'waiting'; code: ErrorCode; reason: string; retryInMs: number; unverified?: true } & ReasonFacts)
  /** `message`: the message with its attestation, base64. The transfer is admitted again with this message. */
  | { kind: 'attested'; message: string }
  /** Waiting cannot make the delivery possible. */
  | { kind: 'impossible'; code: ErrorCode; reason: string; failedCall?: FailedCall }

export interface Ready extends Omit<Attempt, 'kind'> {
  kind: 'ready'
  lane: LaneId
  /** Hash of (to, value, data). The ledger accepts only this call for the intent. */
  callHash: string
  /** Absent: `defaultParkAfter`. */
  parkAfter?: ParkLimits
  /** Set if the delivery takes several calls. */
  stage?: string
  /** Set for a plug-in package, whose code does not run in the process with the key. */
  plan?: CallPlan
  /**
   * Worth of the fee, wei, decimal, for metrics. Set with `plan` if the plug-in has `earned`, because the process with
   * the key cannot ask the plug-in.
   */
  fee?: string
  /** The process that admitted the transfer has the key too, and has reserved a step slot. */
  local?: true
}

export type Admission = Ready | Stopped
export type Waiting = Extract<Stopped, { kind: 'waiting' }>

export interface BroadcastInput extends Omit<Ready, 'kind' | 'local' | 'parkAfter'>, Pick<AdmitInput, 'retriedAt'> {
  intentId: string
  transfer: Transfer
  mode: BroadcastMode
  /** Priority from 1 (first) to 5. */
  priority: number
  /** ms since the epoch. Among transfers of one priority and source, the earliest deadline goes first. */
  deadline?: number
  seenAt?: number
}

/** `requeued`: a worker may have sent the call already. `follow`: the step does not request a new nonce. */
export type BroadcastMode = 'new' | 'requeued' | 'follow'

export interface Landed {
  nonce: number
  txHash: string
  blockHeight: number
  blockHash: string
  /** Decimal wei. */
  gasPaid: string
  attempts: number
  tried: SignedAttempt[]
  /** The batch that delivered the transfer. `gasPaid` is then the transfer's share. */
  batch?: string
  /** When a block first showed the transaction, ms since the epoch, for metrics. Only set at the first try. */
  includedAt?: number
}

export type BroadcastResult =
  | { kind: 'delivered'; landed: Landed }
  /** The call of `stage` is final, and the transfer needs another call. */
  | { kind: 'passed'; landed: Landed }
  | { kind: 'included'; landed: Landed; finalInMs: number }
  /** The transaction is not in a block yet. Call the step again with this intent. `tried`: attempts of this process. */
  | { kind: 'pending'; nonce: number; attempts: number; reason: string; tried: SignedAttempt[] }
  /** The lane is paused, full or out of funds. With `retryInMs`, other lanes would not help. */
  | { kind: 'no-slot'; code: ErrorCode; reason: string; retryInMs?: number }
  /** The call is final, but it reverted or had no effect. `failedCall` is absent if an older version ran the step. */
  | { kind: 'reverted'; landed: Landed; reason: string; failedCall?: FailedCall }
  /**
   * The nonce was used in a final block. `refused`: the refusal of the nodes that answered, if most nodes did not
   * answer.
   */
  | { kind: 'spent'; nonce: number; by: 'noop' | 'external'; tried: SignedAttempt[]; refused?: string }
  /** The intent was withdrawn, or its nonce is final without the effect. */
  | { kind: 'withdrawn' }
  /** The chain may show the effect, or the transfer's batch failed. The transfer is admitted again. */
  | { kind: 'seen' }

export interface ConfirmInput {
  transfer: Transfer
  /** Absent if an account outside Portage may have caused the effect. */
  landed?: Landed
  /** `passed`: the effect of this stage is final, and another call is needed. */
  stage?: string | undefined
  waitMs: number
  /**
   * Set if most nodes must agree on `gone`, because one node's wrong answer could end a delivered transfer as
   * undelivered.
   */
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
  /**
   * Time of the order that ends the transfer, ms since the epoch, by the workflow's clock. Each lane that the chain has
   * used must report after this time, or a day must pass. Absent without an order: strangers could fill a stream with
   * transfers that wait for a lane without a process.
   */
  cancelledAt?: number | undefined
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
  /** After this time (ms), a transfer with a nonce leaves a lane that is forbidden, has no worker or lost its chain. */
  abandonAfterMs: number
}

export interface WithdrawInput {
  lane: LaneId
  intentId: string
  /**
   * `leave`: withdraws only an intent without a nonce. `cancel`: a no-op fills the nonce. `abandon`: the lane takes
   * over the nonce.
   */
  how: 'leave' | 'cancel' | 'abandon'
}

export type Withdrawal = { kind: 'free' } | { kind: 'held'; nonce: number }
