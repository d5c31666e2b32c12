import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import type { StreamState, StreamView } from '../../domain/stream/stream.ts'
import { viewStream } from '../../domain/stream/reducer.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { fromTemporal } from '../../temporal/client/connection/errors.ts'
import { listStreamNames, nameOf, queryStream, workflowIdOf } from '../../temporal/client/streams/streams.ts'
import { unprovedOf } from './unproved.ts'

/** A stream for people: its view, with the words of MIP-61 beside ours. */
export interface StreamReport extends StreamView {
  readonly workflowId?: string
  /** Last block of the live scan. */
  readonly cursor?: number
  /** Blocks from the cursor to the source's finalized head, where that is known. */
  readonly lag?: number
  readonly completed_nonce_height?: string
  readonly completed_block_height?: number
  /** When the source's head was made that `lag` is counted from, ISO 8601: of a chain whose nodes are silent it is old. */
  readonly headAt?: string
  /** What it cannot prove, for want of a node of its source; absent: nothing. */
  readonly unproved?: readonly string[]
  /** When this was read, ISO 8601. What the stream itself knows is of `toldAt`. */
  readonly asOf: string
}

/** One row of a list; with a problem instead of a report: the stream did not answer. */
export type StreamRow = StreamReport | { readonly stream: string; readonly problem: string }

/** Finalized height of a chain by its name in the config, and when its head was made, ms since the epoch; undefined: not known here. */
export type Heights = (chain: string) => { readonly finalized: number; readonly headAt: number } | undefined

/** All streams that run, by name, with those that do not answer. Throws TEMPORAL_UNAVAILABLE. */
export async function listStreams(client: TemporalClient, heights: Heights): Promise<StreamRow[]> {
  const streams = await listStreamNames(client).catch((error: unknown) => {
    throw fromTemporal(error, {})
  })
  return Promise.all(
    streams.toSorted().map(async (stream) => {
      try {
        return { ...toReport(viewStream(await readStream(client, stream)), heights), workflowId: workflowIdOf(client, stream) }
      } catch (error) {
        // Whoever reaches Temporal can start a run under such an id that answers with anything.
        const known = toRelayerError(error)
        if (known.code === 'TEMPORAL_UNAVAILABLE') throw known
        return { stream, problem: known.message }
      }
    }),
  )
}

/** The whole state of a stream. Throws STREAM_NOT_FOUND, STREAM_UNREACHABLE (no worker of the queue ledger answers), TEMPORAL_UNAVAILABLE. */
export async function readStream(client: TemporalClient, stream: string): Promise<StreamState> {
  const state = await queryStream(client, stream)
  if (!state) throw new RelayerError('STREAM_NOT_FOUND', { facts: { stream } })
  return { ...state, config: { ...state.config, stream: nameOf(client, stream) } }
}

/** The view with MIP-61's words, and how far the source's finalized head is above the cursor. */
export function toReport(view: StreamView, heights: Heights): StreamReport {
  const { nextHeight, completedNumber, completedHeight, stream } = view
  const cursor = nextHeight === undefined ? undefined : nextHeight - 1
  const head = heights(sourceOf(stream))
  const unproved = unprovedOf(view, sourceOf(stream))
  return {
    ...view,
    ...(cursor !== undefined && { cursor, ...(head && lagOf(cursor, head)) }),
    ...(completedNumber !== undefined && { completed_nonce_height: completedNumber }),
    ...(completedHeight !== undefined && { completed_block_height: completedHeight }),
    ...(unproved && { unproved }),
    asOf: new Date().toISOString(),
  }
}

function lagOf(cursor: number, { finalized, headAt }: NonNullable<ReturnType<Heights>>): Pick<StreamReport, 'lag' | 'headAt'> {
  return { lag: Math.max(0, finalized - cursor), headAt: new Date(headAt).toISOString() }
}

/** The source chain that a stream's id names, as the config calls it: `bridge:{source}:…`. */
export function sourceOf(stream: string): string {
  return stream.split(':')[1] ?? ''
}
