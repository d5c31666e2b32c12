import type { Intent, LaneId } from '../../domain/lane/lane.ts'
import type { Held, SendOperatorTransactionInput, SendOperatorTransactionResult } from './operator-transaction.ts'
import { defineQuery, defineSignal } from '@temporalio/workflow'

/** The input is recorded before the call gets a nonce. */
export interface BatchInput {
  lane: LaneId
  intent: Intent
  /** Intent ids, in the order of the call. */
  members: string[]
  /** Set by continue-as-new, like the fields below. */
  checks?: number
  cleared?: boolean
  held?: Held
}

export type BatchEnd =
  | { state: 'done' | 'reverted'; detail: string; nonce: number; txHash: string; blockHeight: number; gasPaid: string }
  /** The batch never got a nonce, or returned the nonce unsigned. */
  | { state: 'unsent'; detail: string }
  | { state: 'spent'; detail: string; nonce: number }
  /** Neither the ledger nor the nodes show how the nonce was used, so each member asks the chain. */
  | { state: 'lost'; detail: string }

const ends: readonly unknown[] = ['done', 'reverted', 'unsent', 'spent', 'lost'] satisfies readonly BatchEnd['state'][]

/** Whether the value of a signal is an end: anyone who reaches Temporal can send any value. */
export function isBatchEnd(value: unknown): value is BatchEnd {
  const { state, detail } = Object(value) as { readonly state?: unknown; readonly detail?: unknown }
  return ends.includes(state) && typeof detail === 'string'
}

export type BatchStatus = Pick<BatchInput, 'lane' | 'intent' | 'members' | 'cleared'> & (BatchEnd | { state: 'underway'; detail: string })

export interface BatchSteps {
  /** `members` are checked before signing, on the lane's queue. Absent once the call may have been sent. */
  broadcastBatch(input: Omit<SendOperatorTransactionInput, 'lookUpOnly' | 'cancel'>): Promise<SendOperatorTransactionResult>
}

/** Sent right before the first signing. Later signings do not check the members. */
export const batchClearedSignal = defineSignal('cleared')
export const batchOverSignal = defineSignal<[BatchEnd]>('over')
export const batchStatusQuery = defineQuery<BatchStatus>('status')
