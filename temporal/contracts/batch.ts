import type { Intent } from '../../domain/intent.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { Held, SendOperatorTransactionResult } from './operator-transaction.ts'
import { defineQuery, defineSignal } from '@temporalio/workflow'

/**
 * Input of the workflow `batch`: one call that delivers many transfers, as it is recorded before it gets its nonce. The processes that hold the
 * members drive it; the workflow keeps what it says, and looks after it when nobody else does.
 */
export interface BatchInput {
  lane: LaneId
  intent: Intent
  /** Intents of the transfers, in the order of the call. */
  members: string[]
  /** Carried from run to run. */
  looks?: number
  cleared?: boolean
  held?: Held
}

/** What became of its one nonce. */
export type BatchEnd =
  | { state: 'done' | 'reverted'; detail: string; nonce: number; txHash: string; blockHeight: number; gasPaid: string }
  /** It never got a nonce, or gave it back unsigned. */
  | { state: 'unsent'; detail: string }
  /** A no-op, or a stranger, used its nonce. */
  | { state: 'spent'; detail: string; nonce: number }
  /** The ledger knows nothing of it; whether it was mined only the chain can say, and its members ask that for themselves. */
  | { state: 'lost'; detail: string }

/** Answer of the query `status`, and (closed) the result of the workflow. */
export type BatchStatus = Pick<BatchInput, 'lane' | 'intent' | 'members' | 'cleared'> & (BatchEnd | { state: 'underway'; detail: string })

/** On the workflow: who is in it can be read without a worker. The short names of intents (`tombstone`). */
export interface BatchMemo {
  members: readonly string[]
}

/** What a batch needs of the key; on the lane's queue. */
export interface BatchSteps {
  /** Drives the nonce that the batch holds for a while. It asks for no nonce: where the batch holds none, the result says so. */
  broadcastBatch(input: BroadcastBatchInput): Promise<SendOperatorTransactionResult>
}

export interface BroadcastBatchInput extends Pick<BatchInput, 'lane' | 'intent' | 'held'> {
  /** Members that must all be free before it is signed. Absent: that was seen before, and it may have been sent since. */
  members?: string[]
  /** Workflow id of the batch. */
  owner: string
  intentId: string
}

/**
 * From the process that holds its nonce, right before it signs: every member was free. From here on a pool may have it, and a member that is
 * cancelled later is told so: whoever drives the batch next sends it again without asking the members.
 */
export const batchClearedSignal = defineSignal('cleared')
/** From a process that drove it: what became of it. */
export const batchOverSignal = defineSignal<[BatchEnd]>('over')
export const batchStatusQuery = defineQuery<BatchStatus>('status')
