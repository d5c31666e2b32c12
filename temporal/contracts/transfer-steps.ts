import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { Attempt, LaneId } from '../../domain/lane/lane.ts'
import type { LaneStatus } from '../../domain/lane/messages.ts'
import type { SignedAttempt } from '../../domain/transfer/attempts.ts'
import type { ChainName, Delivery, Transfer } from '../../domain/transfer/transfer.ts'

/** Steps that need no key, on the queue of the target chain. */
export interface KeylessSteps {
  /** `validate`, `checkDelivered` and `prepare` as one local activity. */
  admit(input: AdmitInput): Promise<Admission>
  validate(input: { transfer: Transfer }): Promise<Passed | Stopped>
  checkDelivered(input: AdmitInput): Promise<Passed | Stopped>
  prepare(input: AdmitInput): Promise<Ready | Stopped>
  /** Asks the finalized state. Waits up to `waitMs` for the block. */
  confirm(input: ConfirmInput): Promise<Confirmation>
  getLaneStatus(input: { chain: ChainName; lane: LaneId }): Promise<LaneStatusAnswer>
  withdraw(input: WithdrawInput): Promise<Withdrawal>
  /** Whether its transactions may still be mined with the effect. Asked before it ends undelivered. */
  confirmEnd(input: ConfirmEndInput): Promise<EndConfirmation>
}

/** Steps that need the key, on the lane's queue. */
export interface LaneSteps {
  broadcast(input: BroadcastInput): Promise<BroadcastResult>
  expedite(input: { lane: LaneId; intentId: string }): Promise<void>
}

/** On the queue of the target chain, where the workflow's process holds the key. */
export interface LocalBroadcastSteps {
  /** `elsewhere`: nothing was sent. */
  broadcastLocally(input: BroadcastInput): Promise<BroadcastResult | { kind: 'elsewhere' }>
}

export interface AdmitInput {
  transfer: Transfer
  avoid?: LaneId[]
  /** One node showed the effect, most denied it. Its word alone no longer stops the transfer. */
  disputed?: true
  /** ms since the epoch. Earlier losses do not quarantine the transfer. */
  retriedAt?: number
  /** ms since the epoch, for metrics. Absent after the first try. */
  startedAt?: number
}

export type Passed = { kind: 'passed' }

/** The step ends or delays the transfer. */
export type Stopped =
  /** `awaitNewSignatures`: outdated; a copy with newer ones may be adopted. */
  | { kind: 'rejected' | 'declined'; code: ErrorCode; reason: string; awaitNewSignatures?: true }
  | { kind: 'delivered'; delivery: Delivery }
  /** Not final. Check again after `finalInMs`. */
  | { kind: 'unsettled'; finalInMs: number }
  /** A closed gate; holds no nonce. `unverified`: the signatures were not checked yet. */
  | { kind: 'waiting'; code: ErrorCode; reason: string; retryInMs: number; unverified?: true }
  /** The simulation reverts, and waiting does not help. */
  | { kind: 'impossible'; code: ErrorCode; reason: string }

/** Can be broadcast through this lane, with this first attempt. */
export interface Ready extends Omit<Attempt, 'kind'> {
  kind: 'ready'
  lane: LaneId
  /** Of (to, value, data). The ledger accepts no other call for the intent. */
  callHash: string
  /** The admission's process holds the key, and keeps a slot for a moment. */
  local?: true
}

export type Admission = Ready | Stopped

export interface BroadcastInput extends Omit<Ready, 'kind' | 'local'>, Pick<AdmitInput, 'retriedAt'> {
  /** Workflow and round. A new round begins only when the last nonce was used up without the effect. */
  intentId: string
  transfer: Transfer
  mode: BroadcastMode
  /** From 1 (first) to 5. */
  priority: number
  /** ms since the epoch. The earliest of a class and source goes first. */
  deadline?: number
  /** See `TransferInput`. */
  seenAt?: number
}

/** `requeued`: a worker may have had it. `follow`: goes on with its nonce, and gets no other. */
export type BroadcastMode = 'new' | 'requeued' | 'follow'

/** A signed transaction, and its fate. */
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
  /** Workflow id of the batch. `gasPaid` is the transfer's share. */
  batch?: string
  /** First seen in a block, ms since the epoch, for metrics. Absent: it was not seen at the first try. */
  includedAt?: number
}

export type BroadcastResult =
  /** In a final block, with the effect. */
  | { kind: 'delivered'; landed: Landed }
  /** Not final yet. */
  | { kind: 'included'; landed: Landed; finalInMs: number }
  /** In no block. Call again with the same intent. `tried`: signed by this process. */
  | { kind: 'pending'; nonce: number; attempts: number; reason: string; tried: AttemptRecord[] }
  /** The lane is paused, full, out of funds and so on. */
  | { kind: 'no-slot'; code: ErrorCode; reason: string }
  /** Final, reverted or without the effect. The nonce is used up. */
  | { kind: 'reverted'; landed: Landed; reason: string }
  /** Something else used the nonce in a final block. */
  | { kind: 'spent'; nonce: number; by: 'noop' | 'external'; tried: AttemptRecord[] }
  /** It was withdrawn, or its nonce is final without the effect. */
  | { kind: 'withdrawn' }
  /** Someone made the effect, and this intent holds no nonce. Go back to step 2. */
  | { kind: 'seen' }

export interface ConfirmInput {
  transfer: Transfer
  /** If the effect is ours. */
  landed?: Landed
  waitMs: number
  /** The transfer ends without the effect, so the nodes must agree. */
  requireAgreement?: true
  seenAt?: number
}

export type Confirmation =
  | { kind: 'delivered'; delivery: Delivery }
  | { kind: 'unsettled'; finalInMs: number }
  /** Final without the effect. The nonce is used up. */
  | { kind: 'reverted'; reason: string }
  /** Rolled back, or never there. */
  | { kind: 'gone' }

/** `nonce`: the highest that the transfer is known to have held there. */
export interface LaneNonce {
  lane: LaneId
  nonce?: number
}

export interface ConfirmEndInput {
  transfer: Transfer
  intentId: string
  /** Of earlier rounds. Those that ledgers hold are found too. */
  nonces: LaneNonce[]
}

export type EndConfirmation =
  | { kind: 'delivered'; delivery: Delivery }
  /** Every nonce is final, and the effect nowhere. */
  | { kind: 'free' }
  /** These may still be mined with the effect. */
  | { kind: 'held'; nonces: LaneNonce[] }
  /** The nodes disagree, or the effect is not final. */
  | { kind: 'unsettled'; finalInMs: number }

export interface LaneStatusAnswer {
  lane: LaneStatus
  others: number
  /** For a nonce with a forbidden or unserved lane, ms. */
  abandonAfterMs: number
}

export interface WithdrawInput {
  lane: LaneId
  intentId: string
  /** `leave`: only without a nonce. `cancel`: fill it with a no-op. `abandon`: it becomes the lane's orphan. */
  how: 'leave' | 'cancel' | 'abandon'
}

export type Withdrawal = { kind: 'free' } | { kind: 'held'; nonce: number }
