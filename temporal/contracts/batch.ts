import type { Intent } from '../../domain/intent.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { Held, SendOperatorTransactionInput, SendOperatorTransactionResult } from './operator-transaction.ts'
import { defineQuery, defineSignal } from '@temporalio/workflow'

/** Input of the workflow `batch`: one call that delivers many transfers. Recorded before it gets its nonce. */
export interface BatchInput {
  lane: LaneId
  intent: Intent
  /** Intents of the transfers, in the sequence of the call. */
  members: string[]
  /** Carried from run to run. */
  checks?: number
  cleared?: boolean
  held?: Held
}

/** How its nonce ended. */
export type BatchEnd =
  | { state: 'done' | 'reverted'; detail: string; nonce: number; txHash: string; blockHeight: number; gasPaid: string }
  /** It never got a nonce, or returned it unsigned. */
  | { state: 'unsent'; detail: string }
  /** A no-op, or a transaction from outside Portage, used its nonce. */
  | { state: 'spent'; detail: string; nonce: number }
  /** The ledger does not know the nonce. Each member asks the chain whether it was delivered. */
  | { state: 'lost'; detail: string }

/** Answer of the query `status`, and result of the workflow. */
export type BatchStatus = Pick<BatchInput, 'lane' | 'intent' | 'members' | 'cleared'> & (BatchEnd | { state: 'underway'; detail: string })

export interface BatchSteps {
  /**
   * On the lane's queue. Drives the batch's nonce, and asks for none. Without `members` all members were free, and the
   * call may have been sent.
   */
  broadcastBatch(input: Omit<SendOperatorTransactionInput, 'lookUpOnly' | 'cancel'>): Promise<SendOperatorTransactionResult>
}

/**
 * All members were free right before the signing. From now on the call may be in a pool, and is sent again without
 * checking the members.
 */
export const batchClearedSignal = defineSignal('cleared')
/** The end, as a process that drove the nonce reports it. */
export const batchOverSignal = defineSignal<[BatchEnd]>('over')
export const batchStatusQuery = defineQuery<BatchStatus>('status')
