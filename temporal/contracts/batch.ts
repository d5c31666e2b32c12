import type { Intent } from '../../domain/intent.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { Held, SendOperatorTransactionInput, SendOperatorTransactionResult } from './operator-transaction.ts'
import { defineQuery, defineSignal } from '@temporalio/workflow'

/** Input of the workflow `batch`: one call that delivers many transfers, recorded before it gets its nonce. */
export interface BatchInput {
  lane: LaneId
  intent: Intent
  /** Intents of the transfers, in the order of the call. */
  members: string[]
  /** Carried from run to run. */
  checks?: number
  cleared?: boolean
  held?: Held
}

/** How its one nonce ended. */
export type BatchEnd =
  | { state: 'done' | 'reverted'; detail: string; nonce: number; txHash: string; blockHeight: number; gasPaid: string }
  /** It never got a nonce, or gave it back unsigned. */
  | { state: 'unsent'; detail: string }
  /** A no-op, or a transaction from outside Portage, used its nonce. */
  | { state: 'spent'; detail: string; nonce: number }
  /** The ledger does not know it. Whether it was mined, each of its members asks the chain. */
  | { state: 'lost'; detail: string }

/** Answer of the query `status`, and (closed) the result of the workflow. */
export type BatchStatus = Pick<BatchInput, 'lane' | 'intent' | 'members' | 'cleared'> & (BatchEnd | { state: 'underway'; detail: string })

export interface BatchSteps {
  /** On the lane's queue. Drives the nonce that the batch holds, and asks for none. Without `members` all were free, and it may have been sent since. */
  broadcastBatch(input: Omit<SendOperatorTransactionInput, 'lookUpOnly' | 'cancel'>): Promise<SendOperatorTransactionResult>
}

/** Every member was free, right before it is signed. From here on a pool may have it, and it is sent again without asking the members. */
export const batchClearedSignal = defineSignal('cleared')
/** From a process that drove it: how it ended. */
export const batchOverSignal = defineSignal<[BatchEnd]>('over')
export const batchStatusQuery = defineQuery<BatchStatus>('status')
