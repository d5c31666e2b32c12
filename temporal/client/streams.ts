import { RelayerError } from '../../domain/errors.ts'
import type { StreamResponse, StreamState, StreamUpdate } from '../../domain/stream/stream.ts'
import { applyStreamUpdate, type StreamInput, streamStatusQuery, streamWorkflowId } from '../contracts/stream.ts'
import type { TemporalClient } from './client.ts'
import { fromTemporal, isGone, updateRefusal } from './errors.ts'
import { untilNotFull, updateOrStart } from './update-or-start.ts'

/** A worker that serves the queue answers a query within one task, ms. */
const queryTimeoutMs = 5_000
/** Longest wait for what a person asks for, ms. */
const orderTimeoutMs = 10_000

/**
 * One update of a stream. A stream comes into being only here, with what `begin` says. Throws what the Temporal client and `begin` throw: `isGone` if it is
 * not there and there is no `begin`. Every other error means "ask again".
 */
export function applyToStream(
  client: TemporalClient,
  stream: string,
  update: StreamUpdate,
  { begin, updateId }: { readonly begin?: () => StreamInput | Promise<StreamInput>; readonly updateId?: string } = {},
): Promise<StreamResponse> {
  return updateOrStart(client, applyStreamUpdate, [update], {
    workflowType: 'stream',
    workflowId: streamWorkflowId(stream),
    begin,
    summary: `numbered source ${stream}`,
    updateId,
  })
}

/**
 * One update of a stream that is there, for an operator who waits for the answer. Throws STREAM_NOT_FOUND, STREAM_UNREACHABLE, TEMPORAL_UNAVAILABLE, and
 * INPUT_INVALID if the stream finds it malformed.
 */
export async function sendStreamOrder(client: TemporalClient, stream: string, update: StreamUpdate): Promise<StreamResponse> {
  const facts = { stream }
  try {
    return await untilNotFull(client, orderTimeoutMs, () => applyToStream(client, stream, update))
  } catch (error) {
    const refusal = updateRefusal(error)
    if (refusal?.kind === 'malformed') throw new RelayerError('INPUT_INVALID', { detail: refusal.detail, facts, cause: error })
    throw fromTemporal(error, { gone: 'STREAM_NOT_FOUND', unserved: 'STREAM_UNREACHABLE' }, facts)
  }
}

/** The names of all streams that run. Throws what the Temporal client throws. */
export async function listStreamNames(client: TemporalClient): Promise<string[]> {
  const streams: string[] = []
  await client.withDeadline(Date.now() + orderTimeoutMs, async () => {
    for await (const { workflowId } of client.workflow.list({ query: "WorkflowType = 'stream' AND ExecutionStatus = 'Running'" })) {
      streams.push(workflowId.slice(streamWorkflowId('').length))
    }
  })
  return streams
}

/** The whole state of a stream; undefined: there is no such stream. Throws STREAM_UNREACHABLE (no worker answers), TEMPORAL_UNAVAILABLE. */
export async function queryStream(client: TemporalClient, stream: string): Promise<StreamState | undefined> {
  try {
    const handle = client.workflow.getHandle(streamWorkflowId(stream))
    return await client.withDeadline(Date.now() + queryTimeoutMs, () => handle.query(streamStatusQuery))
  } catch (error) {
    if (isGone(error)) return undefined
    throw fromTemporal(error, { unserved: 'STREAM_UNREACHABLE' }, { stream })
  }
}
