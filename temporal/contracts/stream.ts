import type { Order } from '../../domain/order.ts'
import type { StreamCheckpoint } from '../../domain/stream/checkpoint.ts'
import type { Distrusted, StreamConfig, StreamResponse, StreamState, StreamUpdate, StreamView } from '../../domain/stream/stream.ts'
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow'

/** Input of the workflow `stream`, on the queue `ledger`, since it needs no chain and no key. */
export interface StreamInput {
  config: StreamConfig
  /** Kept outside Temporal, for a stream without state. The starter checks its block first. */
  checkpoint?: StreamCheckpoint
  /** A checkpoint's watermark above the numbers of the source. The stream begins without it, and raises an alarm. */
  distrusted?: Omit<Distrusted, 'at'>
  /** Carried through continue-as-new. */
  state?: StreamState
  /** Continue as new after this many updates; for tests. */
  updatesPerRun?: number
}

/**
 * The only update: readings of source and target, and orders. Idempotent by content. Refused as `malformedUpdate` or
 * `runIsFull`.
 */
export const applyStreamUpdate = defineUpdate<StreamResponse, [StreamUpdate]>('apply')
/** Batch tools can only signal. A signal without an `order` is kept as `unnamed`. */
export const pauseStreamSignal = defineSignal<[{ order: Order }?]>('pause')
export const resumeStreamSignal = defineSignal<[{ order: Order }?]>('resume')
export const streamStatusQuery = defineQuery<StreamState>('status')
export const streamViewQuery = defineQuery<StreamView>('view')

/** Workflow id of a stream. */
export function streamWorkflowId(stream: string): string {
  return `stream:${stream}`
}
