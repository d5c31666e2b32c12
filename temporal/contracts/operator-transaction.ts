import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { Intent } from '../../domain/intent.ts'
import type { Order } from '../../domain/order.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { AttemptRecord } from './transfer-steps.ts'
import { defineQuery, defineSignal } from '@temporalio/workflow'

/**
 * Input of the workflow `operatorTransaction`: one intent of an operator, or of the lane itself, through the lane's
 * ledger.
 */
export interface OperatorTransactionInput extends Order {
  lane: LaneId
  intent: Intent
  /** Carried from run to run. */
  progress?: OperatorTransactionProgress
}

export interface OperatorTransactionProgress {
  /** A new round is a new intent. It begins when something else used the nonce of the last one. */
  round: number
  /** This round was sent, and may hold a nonce. */
  sentBefore: boolean
  waits: number
  /** When it was ordered: when its first run started, ms since the epoch by Temporal's clock. */
  orderedAt: number
  /** The nonce of this round, with the hash of everything that was signed for it. */
  held?: Held
  /** The nonces of earlier rounds. */
  earlier?: Held[]
  cancelledBy?: Order
}

/** A signed transaction. Some signers (KMS) make another hash each time. */
export type SignedHash = Pick<AttemptRecord, 'kind' | 'hash'>

/** A nonce and its signed transactions, by which it is found on the chain after the ledger has forgotten it. */
export interface Held {
  nonce: number
  tried: SignedHash[]
}

/** Answer of the query `status`, and result of the workflow. */
export interface OperatorTransactionStatus extends Omit<OperatorTransactionInput, 'progress'> {
  /**
   * `done`, `reverted`: in a final block. `impossible`: its simulation reverts. `refused`: no retry heals the error,
   * for example of the key's policy, and no process sent it (`cancelled` if one did, and other transactions used its
   * nonces). `lost`: its nonce is used up and the nodes do not show by what. It is not sent again by itself.
   */
  state: 'waiting' | 'pending' | 'done' | 'reverted' | 'impossible' | 'refused' | 'cancelled' | 'lost'
  detail: string
  /** When it was ordered, ms since the epoch. */
  orderedAt: number
  /** Author and reason of the cancel. */
  cancelledBy?: Order
  nonce?: number
  txHash?: string
  blockHeight?: number
  blockHash?: string
  /** wei, decimal. */
  gasPaid?: string
}

export interface OperatorTransactionSteps {
  /**
   * On the lane's queue. Gets a nonce for the intent, signs, sends, and follows for a while. After a crash the next try
   * makes the same bytes.
   */
  sendOperatorTransaction(input: SendOperatorTransactionInput): Promise<SendOperatorTransactionResult>
}

export interface SendOperatorTransactionInput extends Pick<OperatorTransactionInput, 'lane' | 'intent'> {
  intentId: string
  /** Look up the nonce of an earlier grant, and ask for no other. The answer is `lost` if the ledger knows none. */
  lookUpOnly: boolean
  /** The nonce that it held last. */
  held?: Held
  /** The nonces of earlier rounds. */
  earlier?: Held[]
  /** Have the lane mine a no-op instead. */
  cancel: boolean
  /**
   * When it was ordered, ms since the epoch by Temporal's clock. Absent for a batch, whose contract makes its effect
   * single.
   */
  orderedAt?: number
  /** For a batch: the intents that it delivers. None of them may be withdrawn before the first signature. */
  members?: string[]
}

export type SendOperatorTransactionResult =
  | { kind: 'final'; nonce: number; ok: boolean; txHash: string; blockHeight: number; blockHash: string; gasPaid: string }
  | { kind: 'pending'; held: Held; reason: string }
  | { kind: 'no-slot'; code: ErrorCode; reason: string }
  | { kind: 'impossible'; reason: string }
  /**
   * A no-op of the lane, or a transaction from outside Portage, used the nonce. Most nodes show it as final, and which
   * of the two it was.
   */
  | { kind: 'spent'; nonce: number; by: 'noop' | 'external' }
  /** A later round holds a nonce, since the workflow was reset. It goes on with that round. */
  | { kind: 'superseded'; intentId: string }
  /** Cancelled before it held a nonce. */
  | { kind: 'withdrawn' }
  /** An earlier try of this step may have held a nonce, and the ledger knows none. Nothing was requested. */
  | { kind: 'none' }
  /** It may have held a nonce, and neither the ledger nor the nodes show what happened to it. */
  | { kind: 'lost'; reason: string }

export const cancelOperatorTransactionSignal = defineSignal<[{ order: Order }?]>('cancel')
/** A signature, from the process with the key. Sent before the transaction is. */
export const operatorTransactionSignedSignal = defineSignal<[SignedHash & { intentId: string; nonce: number }]>('signed')
export const operatorTransactionStatusQuery = defineQuery<OperatorTransactionStatus>('status')
