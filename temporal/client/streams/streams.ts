import type { WorkflowExecutionInfo } from '@temporalio/client'
import type { StreamResponse, StreamState, StreamUpdate } from '../../../domain/stream/stream.ts'
import { applyStreamUpdate, type StreamInput, streamStatusQuery, streamWorkflowId } from '../../contracts/stream.ts'
import { listWorkflows, type TemporalClient, within } from '../connection/client.ts'
import { ifGone, rethrowAs } from '../connection/errors.ts'
import { queryOrWake } from '../calls/query-or-wake.ts'
import { running } from '../transfers/transfer-queries.ts'
import { orderTimeoutMs, sendOrder, updateOrStart } from '../calls/update-or-start.ts'

/** A worker that serves the queue answers a query within one task; one after a worker that has just gone, within its sticky time more, ms. */
const queryTimeoutMs = 12_000

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

/** One update of a stream for an operator. Throws STREAM_NOT_FOUND, STREAM_UNREACHABLE, INPUT_INVALID (the stream finds it malformed), TEMPORAL_UNAVAILABLE. */
export function sendStreamOrder(client: TemporalClient, stream: string, update: StreamUpdate): Promise<StreamResponse> {
  const codes = { gone: 'STREAM_NOT_FOUND', unserved: 'STREAM_UNREACHABLE' } as const
  return sendOrder(client, () => applyToStream(client, stream, update), codes, { stream })
}

/** The names of all streams that run. Throws what the Temporal client throws. */
export async function listStreamNames(client: TemporalClient): Promise<string[]> {
  const prefix = streamWorkflowId('')
  // One of the type `stream` under another id is no stream.
  const isWanted = ({ workflowId }: WorkflowExecutionInfo) => workflowId.startsWith(prefix)
  const list = () => listWorkflows(client, `WorkflowType = 'stream' AND ${running}`, { isWanted })
  return (await within(client, orderTimeoutMs, list)).map(({ workflowId }) => workflowId.slice(prefix.length))
}

/** The whole state of a stream; undefined: there is no such stream. Throws STREAM_UNREACHABLE (no worker answers), TEMPORAL_UNAVAILABLE. */
export function queryStream(client: TemporalClient, stream: string): Promise<StreamState | undefined> {
  const ask = () => queryOrWake(client, streamWorkflowId(stream), streamStatusQuery).catch(ifGone(undefined))
  return within(client, queryTimeoutMs, ask).catch(rethrowAs({ unserved: 'STREAM_UNREACHABLE' }, { stream }))
}

/**
 * How far the workflow of a stream has come: another value whenever it was told something, since each update is in its history. Undefined: it does not run. No
 * worker is asked. Throws TEMPORAL_UNAVAILABLE, and what the Temporal client throws.
 */
export async function streamProgress(client: TemporalClient, stream: string): Promise<string | undefined> {
  const describe = () => client.workflow.getHandle(streamWorkflowId(stream)).describe().catch(ifGone(undefined))
  const run = await within(client, orderTimeoutMs, describe).catch(rethrowAs({}, { stream }))
  return run?.status.name === 'RUNNING' ? `${run.runId}/${run.historyLength}` : undefined
}

/** Ends the workflow of a stream whose numbers go on elsewhere; no transfer is touched. One that has ended stays so. Throws TEMPORAL_UNAVAILABLE, and what the Temporal client throws. */
export async function endStream(client: TemporalClient, stream: string, reason: string): Promise<void> {
  const end = () =>
    client.workflow
      .getHandle(streamWorkflowId(stream))
      .terminate(reason)
      .then(() => undefined)
      .catch(ifGone(undefined))
  await within(client, orderTimeoutMs, end).catch(rethrowAs({}, { stream }))
}
