import { RelayerError } from '../domain/errors.ts'
import type { StreamRequest, StreamState, StreamView } from '../domain/stream/stream.ts'
import { assertStreamRequest } from '../domain/stream/request.ts'
import { viewStream } from '../domain/stream/reducer.ts'
import type { TemporalClient } from '../temporal/client/client.ts'
import { listStreamNames, queryStream, sendStreamOrder } from '../temporal/client/streams.ts'
import { redactText } from '../observability/redact.ts'
import { assertOrderFits } from './stream-orders.ts'
import type { StreamOrder } from './stream-orders.ts'
import { fromTemporal } from './temporal-errors.ts'

/** A stream for people: its view, with the words of MIP-61 beside ours. */
export interface StreamReport extends StreamView {
  /** Last block of the live scan. */
  readonly cursor?: number
  /** Blocks from the cursor to the source's finalized head, where that is known. */
  readonly lag?: number
  readonly completed_nonce_height?: string
  readonly completed_block_height?: number
}

/** One of a list. Without a report: it did not answer. */
export type StreamRow = StreamReport | { readonly stream: string; readonly problem: string }

/** Finalized height of a chain by its name in the config; undefined: not known here. */
export type Heights = (chain: string) => number | undefined

/** All streams that run, by name; one that does not answer does not hide the others. Throws TEMPORAL_UNAVAILABLE. */
export async function listStreams(client: TemporalClient, heights: Heights): Promise<StreamRow[]> {
  let streams: string[]
  try {
    streams = await listStreamNames(client)
  } catch (error) {
    throw fromTemporal(error, 'STREAM_NOT_FOUND')
  }
  return Promise.all(
    streams.toSorted().map(async (stream) => {
      try {
        return toReport(viewStream(await readStream(client, stream)), heights)
      } catch (error) {
        if (error instanceof RelayerError && error.code !== 'TEMPORAL_UNAVAILABLE') return { stream, problem: error.message }
        throw error
      }
    }),
  )
}

/** All that a stream knows. Throws STREAM_NOT_FOUND, STREAM_UNREACHABLE (no worker of the queue ledger answers), TEMPORAL_UNAVAILABLE. */
export async function readStream(client: TemporalClient, stream: string): Promise<StreamState> {
  const state = await queryStream(client, stream)
  if (!state) throw new RelayerError('STREAM_NOT_FOUND', { facts: { stream } })
  return state
}

/** What became of an order. */
export interface Obeyed {
  /** False: it says nothing about this stream as it stands (resolved already, a trusted number that is no higher). */
  readonly done: boolean
  readonly view: StreamView
}

/**
 * Orders something of a stream; safe to repeat. It does not start one. Throws INPUT_INVALID with the field or with what the stream says against
 * it, and as `readStream`.
 */
export async function orderOfStream(client: TemporalClient, stream: string, order: StreamOrder): Promise<Obeyed> {
  const request = withoutSecrets(order)
  assertOrderFits(await readStream(client, stream), order)
  const { answers, view } = await sendStreamOrder(client, stream, { requests: [request] })
  const [answer] = answers
  if (answer?.kind === 'refused') throw new RelayerError('INPUT_INVALID', { detail: answer.detail, facts: { stream } })
  return { done: answer?.kind === 'done', view }
}

/** The view with MIP-61's words, and how far the source's finalized head is above the cursor. */
export function toReport(view: StreamView, heights: Heights): StreamReport {
  const { nextHeight, completedNumber, completedHeight, stream } = view
  const cursor = nextHeight === undefined ? undefined : nextHeight - 1
  const head = heights(sourceOf(stream))
  return {
    ...view,
    ...(cursor !== undefined && { cursor, ...(head !== undefined && { lag: Math.max(0, head - cursor) }) }),
    ...(completedNumber !== undefined && { completed_nonce_height: completedNumber }),
    ...(completedHeight !== undefined && { completed_block_height: completedHeight }),
  }
}

/** The source chain that a stream's id names, as the config calls it: `bridge:{source}:…`. */
export function sourceOf(stream: string): string {
  return stream.split(':')[1] ?? ''
}

/** A reason is kept in the history. Throws INPUT_INVALID: the workflow refuses the same, here it costs no update. */
function withoutSecrets(order: StreamOrder): StreamRequest {
  const request: StreamRequest = 'reason' in order ? { ...order, reason: redactText(order.reason) } : order
  try {
    assertStreamRequest(request, 'order')
  } catch (error) {
    throw new RelayerError('INPUT_INVALID', { detail: error instanceof Error ? error.message : String(error) })
  }
  return request
}
