import type { Order } from '../../domain/order.ts'
import type { StreamCheckpoint } from '../../domain/stream/checkpoint.ts'
import type { Distrusted, StreamConfig, StreamResponse, StreamState, StreamUpdate, StreamView } from '../../domain/stream/stream.ts'
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow'

export interface StreamInput {
  config: StreamConfig
  /**
   * Checkpoint for a stream that has no state yet. The process that starts the stream has checked the checkpoint's
   * block.
   */
  checkpoint?: StreamCheckpoint
  /** A watermark above the source's numbers, which only raises an alarm. */
  distrusted?: Omit<Distrusted, 'at'>
  state?: StreamState
  updatesPerRun?: number
}

/** A repeated update changes nothing. Refusals have the type `malformedUpdate` or `runIsFull`. */
export const applyStreamUpdate = defineUpdate<StreamResponse, [StreamUpdate]>('apply')
/** Batch operations send only signals. Without `order`, the author is `unnamed`. */
export const pauseStreamSignal = defineSignal<[{ order: Order }?]>('pause')
export const resumeStreamSignal = defineSignal<[{ order: Order }?]>('resume')
export const streamStatusQuery = defineQuery<StreamState>('status')
export const streamViewQuery = defineQuery<StreamView>('view')

export function streamWorkflowId(stream: string): string {
  return `stream:${stream}`
}
