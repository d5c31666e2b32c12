import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { Order } from '../../domain/order.ts'
import type { Intent, LaneId } from '../../domain/lane/lane.ts'
import type { AttemptRecord, Landed } from './transfer-steps.ts'
import { defineQuery, defineSignal } from '@temporalio/workflow'

/** Input of `operatorTransaction`, which sends one intent with a lane's key. */
export interface OperatorTransactionInput extends Order {
  lane: LaneId
  intent: Intent
  /** An automatic top-up: nothing is sent unless this account has less than `minimum`, wei. */
  onlyBelow?: { address: string; minimum: string }
  /** First round. It is unique, because automatic top-ups of a lane share a workflow id. Absent: 1. */
  firstRound?: number
  progress?: OperatorTransactionProgress
}

export interface OperatorTransactionProgress {
  /** Number in the intent's id. The next round begins when another transaction has used the nonce of this round. */
  round: number
  sentBefore: boolean
  waits: number
  /** Start of the workflow's first run by Temporal's clock, ms since the epoch. */
  orderedAt: number
  held?: Held
  earlier?: Held[]
  cancelledBy?: Order
}

/** Hashes are recorded, because some signers (KMS) make another signature, and so another hash, each time. */
export type SignedHash = Pick<AttemptRecord, 'kind' | 'hash'>

/** The hashes find a nonce's transactions on the chain even if the ledger has forgotten the nonce. */
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
  /** Runs on the lane's queue. If a process crashes, the next try signs the same bytes. */
  sendOperatorTransaction(input: SendOperatorTransactionInput): Promise<SendOperatorTransactionResult>
}

export interface SendOperatorTransactionInput extends Pick<OperatorTransactionInput, 'lane' | 'intent' | 'onlyBelow'> {
  intentId: string
  /** Asks for no new nonce. If the ledger has none for the intent, looks up `held` and `earlier`. */
  lookUpOnly: boolean
  held?: Held
  earlier?: Held[]
  /** Mine a no-op instead. */
  cancel: boolean
  /** For finding an earlier payment, ms since the epoch. Absent for a batch, which its contract delivers only once. */
  orderedAt?: number
  /** Intents of a batch. An unsigned call is not signed if one of them was withdrawn. */
  members?: string[]
}

export type SendOperatorTransactionResult =
  | ({ kind: 'final'; ok: boolean } & Mined)
  | { kind: 'pending'; held: Held; reason: string }
  | { kind: 'no-slot'; code: ErrorCode; reason: string }
  | { kind: 'impossible'; reason: string }
  /** Most nodes show the nonce as final, used by a no-op or an external transaction. */
  | { kind: 'spent'; nonce: number; by: 'noop' | 'external' }
  /** The workflow was reset and forgot this later round, which has a nonce. */
  | { kind: 'superseded'; intentId: string }
  | { kind: 'withdrawn' }
  | { kind: 'none' }
  /** Neither the ledger nor the nodes show what happened to the nonce. */
  | { kind: 'lost'; reason: string }

export const cancelOperatorTransactionSignal = defineSignal<[{ order: Order }?]>('cancel')
/** Sent by the process with the key before it sends the transaction. */
export const operatorTransactionSignedSignal = defineSignal<[SignedHash & { intentId: string; nonce: number }]>('signed')
export const operatorTransactionStatusQuery = defineQuery<OperatorTransactionStatus>('status')
