import type { WorkflowExecutionInfo } from '@temporalio/client'
import type { StreamResponse, StreamState, StreamUpdate } from '../../../domain/stream/stream.ts'
import { applyStreamUpdate, type StreamInput, streamStatusQuery, streamWorkflowId } from '../../contracts/stream.ts'
import { listWorkflows, type TemporalClient, within } from '../connection/client.ts'
import { ifGone, rethrowAs } from '../connection/errors.ts'
import { queryOrWake } from '../calls/query-or-wake.ts'
import { running } from '../transfers/transfer-queries.ts'
import { orderTimeoutMs, sendOrder, updateOrStart } from '../calls/update-or-start.ts'

/**
 * Workflow ids have the numbers of the chains, and callers use the names of the config. Only this file translates. Each
 * function takes either. A stream that the config does not have keeps its id as its name.
 */

/**
 * A worker that serves the queue answers a query within one task; one after a worker that has just gone, within its
 * sticky time more, ms.
 */
const queryTimeoutMs = 12_000

/** The workflow id of a stream. */
export function workflowIdOf({ streamNames }: TemporalClient, stream: string): string {
  return streamWorkflowId(streamNames?.idOf(stream) ?? stream)
}

/** The name of a stream in the config. */
export function nameOf({ streamNames }: TemporalClient, stream: string): string {
  return streamNames?.nameOf(stream) ?? stream
}

/**
 * One update of a stream. Only this function starts a stream, with what `begin` returns. Throws what the Temporal
 * client and `begin` throw: `isGone` if it is not there and there is no `begin`. Every other error means "ask again".
 */
export function applyToStream(
  client: TemporalClient,
  stream: string,
  update: StreamUpdate,
  { begin, updateId }: { readonly begin?: () => StreamInput | Promise<StreamInput>; readonly updateId?: string } = {},
): Promise<StreamResponse> {
  return updateOrStart(client, applyStreamUpdate, [update], {
    workflowType: 'stream',
    workflowId: workflowIdOf(client, stream),
    begin,
    summary: `numbered source ${stream}`,
    updateId,
  })
}

/**
 * One update of a stream for an operator. Throws STREAM_NOT_FOUND, STREAM_UNREACHABLE, INPUT_INVALID (the stream finds
 * it malformed), TEMPORAL_UNAVAILABLE.
 */
export function sendStreamOrder(client: TemporalClient, stream: string, update: StreamUpdate): Promise<StreamResponse> {
  const codes = { gone: 'STREAM_NOT_FOUND', unserved: 'STREAM_UNREACHABLE' } as const
  return sendOrder(client, () => applyToStream(client, stream, update), codes, { stream })
}

/** The names of all running streams. */
export async function listStreamNames(client: TemporalClient): Promise<string[]> {
  const prefix = streamWorkflowId('')
  // A workflow of the type `stream` under another id is not a stream.
  const isWanted = ({ workflowId }: WorkflowExecutionInfo) => workflowId.startsWith(prefix)
  const list = () => listWorkflows(client, `WorkflowType = 'stream' AND ${running}`, { isWanted })
  return (await within(client, orderTimeoutMs, list)).map(({ workflowId }) => nameOf(client, workflowId.slice(prefix.length)))
}

/**
 * The whole state of a stream; undefined: there is no such stream. Throws STREAM_UNREACHABLE (no worker answers),
 * TEMPORAL_UNAVAILABLE.
 */
export function queryStream(client: TemporalClient, stream: string): Promise<StreamState | undefined> {
  const ask = () => queryOrWake(client, workflowIdOf(client, stream), streamStatusQuery).catch(ifGone(undefined))
  return within(client, queryTimeoutMs, ask).catch(rethrowAs({ unserved: 'STREAM_UNREACHABLE' }, { stream }))
}

/**
 * Progress of a stream's workflow: the value differs after every update, since each is in its history. Undefined: it
 * does not run. No worker is asked. Throws TEMPORAL_UNAVAILABLE, and what the Temporal client throws.
 */
export async function streamProgress(client: TemporalClient, stream: string): Promise<string | undefined> {
  const describe = () => client.workflow.getHandle(workflowIdOf(client, stream)).describe().catch(ifGone(undefined))
  const run = await within(client, orderTimeoutMs, describe).catch(rethrowAs({}, { stream }))
  return run?.status.name === 'RUNNING' ? `${run.runId}/${run.historyLength}` : undefined
}
