import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { Order } from '../../domain/order.ts'
import type { Intent, LaneId } from '../../domain/lane/lane.ts'
import type { SignedAttempt } from '../../domain/transfer/attempts.ts'
import type { Landed } from './transfer-steps.ts'
import { defineQuery, defineSignal } from '@temporalio/workflow'

export interface OperatorTransactionInput extends Order {
  lane: LaneId
  intent: Intent
  /** Set for an automatic top-up, which sends nothing unless the balance of `address` is below `minimum` (wei). */
  onlyBelow?: { address: string; minimum: string }
  /** Default: 1. All top-ups of a lane have one workflow id, so each begins with a new round of intent ids. */
  firstRound?: number
  progress?: OperatorTransactionProgress
}

export interface OperatorTransactionProgress {
  /** Part of the intent's id. It rises by 1 after another transaction used the nonce. */
  round: number
  sentBefore: boolean
  waits: number
  /** When the workflow's first run began, by Temporal's clock, ms since the epoch. */
  orderedAt: number
  held?: Held
  earlier?: Held[]
  cancelledBy?: Order
}

/** A KMS signs differently each time, so each signature gives the transaction a different hash. */
export type SignedHash = Pick<SignedAttempt, 'kind' | 'hash'>

/**
 * A nonce of the workflow, with the hashes of its signed transactions. The chain shows these hashes even if the ledger
 * has forgotten the nonce.
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
   * `impossible`: the simulation reverts, a fee limit forbids the call, or a top-up is no longer needed. `refused`:
   * nothing was sent, and a retry cannot help. `lost`: no node shows which transaction used the nonce.
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
  /**
   * True: the step does not request a new nonce. If the ledger has no nonce for the intent, the step looks up `held`
   * and `earlier`.
   */
  lookUpOnly: boolean
  held?: Held
  earlier?: Held[]
  /** True: a no-op fills the intent's nonce, and an intent without a nonce is withdrawn. */
  cancel: boolean
  /**
   * Time at which the search for a payment begins, ms since the epoch. Absent for a batch, whose contract delivers only
   * once.
   */
  orderedAt?: number
  /** Intents of a batch. If one was withdrawn, the call is not signed. */
  members?: string[]
}

export type SendOperatorTransactionResult =
  | ({ kind: 'final'; ok: boolean } & Mined)
  | { kind: 'pending'; held: Held; reason: string }
  | { kind: 'no-slot'; code: ErrorCode; reason: string }
  | { kind: 'impossible'; reason: string }
  /** Most nodes show that a no-op or an external transaction used the nonce in a final block. */
  | { kind: 'spent'; nonce: number; by: 'noop' | 'external' }
  /** A later round, which the workflow forgot in a reset, has a nonce. */
  | { kind: 'superseded'; intentId: string }
  | { kind: 'withdrawn' }
  | { kind: 'none' }
  /** Neither the ledger nor the nodes show what happened to the nonce. */
  | { kind: 'lost'; reason: string }

export const cancelOperatorTransactionSignal = defineSignal<[{ order: Order }?]>('cancel')
/** The process with the key reports a signature before it sends the transaction. */
export const operatorTransactionSignedSignal = defineSignal<[SignedHash & { intentId: string; nonce: number }]>('signed')
export const operatorTransactionStatusQuery = defineQuery<OperatorTransactionStatus>('status')
