import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { Intent } from '../../domain/intent.ts'
import type { Order } from '../../domain/order.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { AttemptRecord } from './transfer-steps.ts'
import { defineQuery, defineSignal } from '@temporalio/workflow'

/** Input of the workflow `operatorTransaction`: one intent of an operator, or of the lane itself, through the lane's ledger. */
export interface OperatorTransactionInput extends Order {
  lane: LaneId
  intent: Intent
  /** Carried from run to run when it continues as new. */
  progress?: OperatorTransactionProgress
}

export interface OperatorTransactionProgress {
  /** A new round is a new intent: the last one's nonce was used by something else. */
  round: number
  /** This round was sent before: it may hold a nonce. */
  sentBefore: boolean
  waits: number
  /** When it was ordered: when its first run started, ms since the epoch by Temporal's clock. */
  orderedAt: number
  /** What this round was last seen to hold, with every hash that was ever signed for it. */
  held?: Held
  /** What earlier rounds held. */
  earlier?: Held[]
  cancelledBy?: Order
}

/** One transaction that was signed, by any process: some signers (KMS) make another hash each time. */
export type SignedHash = Pick<AttemptRecord, 'kind' | 'hash'>

/** A nonce and what was signed for it: with these it is found on the chain once it is final and the ledger has forgotten it. */
export interface Held {
  nonce: number
  tried: SignedHash[]
}

/** Answer of the query `status`, and (closed) the result of the workflow. */
export interface OperatorTransactionStatus extends Omit<OperatorTransactionInput, 'progress'> {
  /**
   * `done`, `reverted`: in a final block. `impossible`: its simulation reverts. `refused`: no retry heals the error, such as one of the key's policy, and no
   * process ever sent it (`cancelled` if one did, and its nonces were used by others). `lost`: its nonce is used up, and the nodes do not say by what: it is never sent again by itself.
   */
  state: 'waiting' | 'pending' | 'done' | 'reverted' | 'impossible' | 'refused' | 'cancelled' | 'lost'
  detail: string
  /** When it was ordered, ms since the epoch. */
  orderedAt: number
  /** Who has asked it to end, and why. */
  cancelledBy?: Order
  nonce?: number
  txHash?: string
  blockHeight?: number
  blockHash?: string
  /** wei, decimal. */
  gasPaid?: string
}

export interface OperatorTransactionSteps {
  /** On the lane's queue. Gets the intent a nonce, signs, sends, follows for a while. Killed at any point, its next try makes the same bytes. */
  sendOperatorTransaction(input: SendOperatorTransactionInput): Promise<SendOperatorTransactionResult>
}

export interface SendOperatorTransactionInput extends Pick<OperatorTransactionInput, 'lane' | 'intent'> {
  intentId: string
  /** A nonce that it was granted before is looked up, and no other is given. `lost` if the ledger knows none. */
  lookUpOnly: boolean
  /** What it was last seen to hold. */
  held?: Held
  /** What its earlier rounds held. */
  earlier?: Held[]
  /** Let the lane mine a no-op in its place. */
  cancel: boolean
  /** When it was ordered, ms since the epoch by Temporal's clock. Absent for a batch, whose contract makes its effect single. */
  orderedAt?: number
  /** Of a batch: the intents that it delivers. None of them may have been withdrawn when it is signed first. */
  members?: string[]
}

export type SendOperatorTransactionResult =
  | { kind: 'final'; nonce: number; ok: boolean; txHash: string; blockHeight: number; blockHash: string; gasPaid: string }
  | { kind: 'pending'; held: Held; reason: string }
  | { kind: 'no-slot'; code: ErrorCode; reason: string }
  | { kind: 'impossible'; reason: string }
  /** The nonce was used by a no-op of the lane, or by a transaction from outside Portage; final, on the word of most nodes, as is which of them it was. */
  | { kind: 'spent'; nonce: number; by: 'noop' | 'external' }
  /** A later round of it holds a nonce: it began anew (its workflow was reset), and goes on with that one. */
  | { kind: 'superseded'; intentId: string }
  /** Cancelled before it held a nonce. */
  | { kind: 'withdrawn' }
  /** An earlier try of this step may have held a nonce, and the ledger knows none: nothing new was asked for. */
  | { kind: 'none' }
  /** It may have held a nonce, and neither the ledger nor the nodes say what became of it. */
  | { kind: 'lost'; reason: string }

export const cancelOperatorTransactionSignal = defineSignal<[{ order: Order }?]>('cancel')
/** From the process with the key, before it sends: these bytes were signed. */
export const operatorTransactionSignedSignal = defineSignal<[SignedHash & { intentId: string; nonce: number }]>('signed')
export const operatorTransactionStatusQuery = defineQuery<OperatorTransactionStatus>('status')
