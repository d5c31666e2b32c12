import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { Order } from '../../domain/order.ts'
import type { Intent, LaneId } from '../../domain/lane/lane.ts'
import type { AttemptRecord, Landed } from './transfer-steps.ts'
import { defineQuery, defineSignal } from '@temporalio/workflow'

/** Input of `operatorTransaction`: an intent of an operator, or of the lane itself. The ledger grants its nonce. */
export interface OperatorTransactionInput extends Order {
  lane: LaneId
  intent: Intent
  /** Carried over by continue-as-new. */
  progress?: OperatorTransactionProgress
}

export interface OperatorTransactionProgress {
  /** Number in the intent's id. The next round begins when another transaction has used the nonce of this round. */
  round: number
  /** This round may already have a nonce. */
  sentBefore: boolean
  waits: number
  /** Start of the workflow's first run, ms since the epoch by Temporal's clock. */
  orderedAt: number
  held?: Held
  earlier?: Held[]
  cancelledBy?: Order
}

/** The hash is recorded, because some signers (KMS) make another signature, and so another hash, each time. */
export type SignedHash = Pick<AttemptRecord, 'kind' | 'hash'>

/** A nonce with hashes of its transactions, which find it on the chain even if the ledger has forgotten it. */
export interface Held {
  nonce: number
  tried: SignedHash[]
}

/** Adds hashes to the known ones of the same nonce. */
export function mergeHeld(known: Held | undefined, { nonce, tried }: Held): Held {
  const before = known?.tried ?? []
  return { nonce, tried: [...before, ...tried.filter(({ hash }) => !before.some((one) => one.hash === hash))] }
}

type Mined = Pick<Landed, 'nonce' | 'txHash' | 'blockHeight' | 'blockHash' | 'gasPaid'>

/** Answer of the query `status`, and result. */
export interface OperatorTransactionStatus extends Omit<OperatorTransactionInput, 'progress'>, Partial<Mined> {
  /**
   * `done`, `reverted`: in a final block. `impossible`: the simulation reverts. `refused`: no retry heals the error,
   * and no process sent the transaction. `lost`: the nonce is used up, and no node shows which transaction used it.
   * Portage does not send the intent again.
   */
  state: 'waiting' | 'pending' | 'done' | 'reverted' | 'impossible' | 'refused' | 'cancelled' | 'lost'
  detail: string
  /** ms since the epoch. */
  orderedAt: number
  cancelledBy?: Order
}

export interface OperatorTransactionSteps {
  /** Runs on the lane's queue. If a process crashes, the next try signs the same bytes. */
  sendOperatorTransaction(input: SendOperatorTransactionInput): Promise<SendOperatorTransactionResult>
}

export interface SendOperatorTransactionInput extends Pick<OperatorTransactionInput, 'lane' | 'intent'> {
  intentId: string
  /** Asks for no new nonce. If the ledger has none, `held` and `earlier` are looked up. If both are absent: `lost`. */
  lookUpOnly: boolean
  held?: Held
  earlier?: Held[]
  /** Mine a no-op instead. */
  cancel: boolean
  /** To find an earlier payment, ms since the epoch. Absent for a batch, whose contract prevents a second effect. */
  orderedAt?: number
  /** Intents of a batch. The call is not signed for the first time if one of them was withdrawn. */
  members?: string[]
}

export type SendOperatorTransactionResult =
  | ({ kind: 'final'; ok: boolean } & Mined)
  | { kind: 'pending'; held: Held; reason: string }
  | { kind: 'no-slot'; code: ErrorCode; reason: string }
  | { kind: 'impossible'; reason: string }
  /** A majority of the nodes shows that the nonce is final, and that a no-op or an external transaction used it. */
  | { kind: 'spent'; nonce: number; by: 'noop' | 'external' }
  /** The workflow was reset and forgot a later round, which has a nonce. It goes on with that round or a later one. */
  | { kind: 'superseded'; intentId: string }
  | { kind: 'withdrawn' }
  /** The ledger knows no nonce of the intent, although an earlier try may have had one. */
  | { kind: 'none' }
  /** Neither the ledger nor the nodes show what happened to the nonce. */
  | { kind: 'lost'; reason: string }

export const cancelOperatorTransactionSignal = defineSignal<[{ order: Order }?]>('cancel')
/** Sent by the process with the key, before it sends the transaction. */
export const operatorTransactionSignedSignal = defineSignal<[SignedHash & { intentId: string; nonce: number }]>('signed')
export const operatorTransactionStatusQuery = defineQuery<OperatorTransactionStatus>('status')
