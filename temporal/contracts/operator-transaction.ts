import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { Order } from '../../domain/order.ts'
import type { Intent, LaneId } from '../../domain/lane/lane.ts'
import type { AttemptRecord, Landed } from './transfer-steps.ts'
import { defineQuery, defineSignal } from '@temporalio/workflow'

/** Input of `operatorTransaction`, which sends one intent with a lane's key. */
export interface OperatorTransactionInput extends Order {
  lane: LaneId
  intent: Intent
  /** An automatic top-up. Nothing is sent unless the balance of `address` is below `minimum` (wei). */
  onlyBelow?: { address: string; minimum: string }
  /**
   * Number of the first round. Automatic top-ups of a lane share a workflow id, so each needs its own number. Absent:
   * 1.
   */
  firstRound?: number
  progress?: OperatorTransactionProgress
}

export interface OperatorTransactionProgress {
  /** Number in the intent's id. The next round begins after another transaction used the nonce of this round. */
  round: number
  sentBefore: boolean
  waits: number
  /** Start of the workflow's first run by Temporal's clock, ms since the epoch. */
  orderedAt: number
  held?: Held
  earlier?: Held[]
  cancelledBy?: Order
}

/** The hash is recorded, because some signers (KMS) make another signature, and so another hash, each time. */
export type SignedHash = Pick<AttemptRecord, 'kind' | 'hash'>

/**
 * Hashes of a nonce's transactions. With them, the chain shows the transactions even if the ledger has forgotten the
 * nonce.
 */
export interface Held {
  nonce: number
  tried: SignedHash[]
}

export function mergeHeld(known: Held | undefined, { nonce, tried }: Held): Held {
  const before = known?.tried ?? []
  return { nonce, tried: [...before, ...tried.filter(({ hash }) => !before.some((one) => one.hash === hash))] }
}

type Mined = Pick<Landed, 'nonce' | 'txHash' | 'blockHeight' | 'blockHash' | 'gasPaid'>

export interface OperatorTransactionStatus extends Omit<OperatorTransactionInput, 'progress' | 'onlyBelow' | 'firstRound'>, Partial<Mined> {
  /**
   * `impossible`: the simulation reverts, or a fee limit forbids the call. `refused`: nothing was sent, and no retry
   * helps.
   * `lost`: no node shows which transaction used the nonce. Portage does not send the intent again.
   */
  state: 'waiting' | 'pending' | 'done' | 'reverted' | 'impossible' | 'refused' | 'cancelled' | 'lost'
  detail: string
  orderedAt: number
  cancelledBy?: Order
}

export interface OperatorTransactionSteps {
  /** Runs on the lane's queue. After a crash of the process, the next try signs the same bytes. */
  sendOperatorTransaction(input: SendOperatorTransactionInput): Promise<SendOperatorTransactionResult>
}

export interface SendOperatorTransactionInput extends Pick<OperatorTransactionInput, 'lane' | 'intent' | 'onlyBelow'> {
  intentId: string
  /** Do not ask for a new nonce. If the ledger has no nonce for the intent, look up `held` and `earlier`. */
  lookUpOnly: boolean
  held?: Held
  earlier?: Held[]
  /** Mine a no-op instead of the call. */
  cancel: boolean
  /**
   * Limits the search for an earlier payment, ms since the epoch. Absent for a batch: its contract delivers only once.
   */
  orderedAt?: number
  /** Intents of a batch. If one of them was withdrawn, a call that is not signed yet is never signed. */
  members?: string[]
}

export type SendOperatorTransactionResult =
  | ({ kind: 'final'; ok: boolean } & Mined)
  | { kind: 'pending'; held: Held; reason: string }
  | { kind: 'no-slot'; code: ErrorCode; reason: string }
  | { kind: 'impossible'; reason: string }
  /** Most nodes show that the nonce is final, and that a no-op or an external transaction used it. */
  | { kind: 'spent'; nonce: number; by: 'noop' | 'external' }
  /** The workflow was reset and has forgotten this later round. The later round has a nonce. */
  | { kind: 'superseded'; intentId: string }
  | { kind: 'withdrawn' }
  | { kind: 'none' }
  /** Neither the ledger nor the nodes show what happened to the nonce. */
  | { kind: 'lost'; reason: string }

export const cancelOperatorTransactionSignal = defineSignal<[{ order: Order }?]>('cancel')
/** The process with the key sends this signal before it sends the transaction. */
export const operatorTransactionSignedSignal = defineSignal<[SignedHash & { intentId: string; nonce: number }]>('signed')
export const operatorTransactionStatusQuery = defineQuery<OperatorTransactionStatus>('status')
