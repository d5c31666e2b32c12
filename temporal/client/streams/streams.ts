import { bytesToUnpack } from '../../../domain/stream/intervals.ts'
import type { StreamResponse, StreamState, StreamUpdate } from '../../../domain/stream/stream.ts'
import { applyStreamUpdate, type StreamInput, streamStatusQuery, streamWorkflowId } from '../../contracts/stream.ts'
import { type TemporalClient, within } from '../connection/client.ts'
import { assertUnpackable } from '../connection/answer-limits.ts'
import { ifGone, rethrowAs } from '../connection/errors.ts'
import { orderTimeoutMs, queryOrWake, sendOrder, updateOrStart } from '../calls/workflow-calls.ts'
import { type RunningNames, runningNames } from '../visibility/runs.ts'

/** Covers the sticky time-out of a worker that has just ended, and one workflow task. */
const queryTimeoutMs = 12_000

/** In this file, `stream` is a name of the config, or an id with chain numbers. */
export function workflowIdOf({ streamNames }: TemporalClient, stream: string): string {
  return streamWorkflowId(streamNames?.idOf(stream) ?? stream)
}

export function nameOf({ streamNames }: TemporalClient, stream: string): string {
  return streamNames?.nameOf(stream) ?? stream
}

/** Starts a missing stream with `begin`. Without `begin`, throws WorkflowNotFoundError. */
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

export function sendStreamOrder(client: TemporalClient, stream: string, update: StreamUpdate): Promise<StreamResponse> {
  const codes = { gone: 'STREAM_NOT_FOUND', unserved: 'STREAM_UNREACHABLE' } as const
  return sendOrder(client, () => applyToStream(client, stream, update), codes, { stream })
}

export async function listStreamNames(client: TemporalClient): Promise<readonly string[]> {
  const { own, others } = await findStreams(client)
  return [...own, ...others]
}

/** See `runningNames`. */
export async function findStreams(client: TemporalClient): Promise<RunningNames> {
  const configured = (client.streamNames?.all ?? []).map((name) => client.streamNames?.idOf(name) ?? name)
  const list = () => runningNames(client, 'stream', streamWorkflowId(''), configured)
  const { own, others, isCut } = await within(client, orderTimeoutMs, list)
  const named = (ids: readonly string[]) => ids.map((id) => nameOf(client, id))
  return { own: named(own), others: named(others), isCut }
}

/** Undefined for an unknown stream. Throws STREAM_UNREACHABLE and TEMPORAL_UNAVAILABLE. */
export function queryStream(client: TemporalClient, stream: string): Promise<StreamState | undefined> {
  const workflowId = workflowIdOf(client, stream)
  const ask = async () => {
    const state = await queryOrWake(client, workflowId, streamStatusQuery).catch(ifGone(undefined))
    const bytes = (state?.outside ?? []).reduce((sum, { packed }) => sum + bytesToUnpack(packed), 0)
    assertUnpackable(client, bytes)
    return state
  }
  return within(client, queryTimeoutMs, ask).catch(rethrowAs({ unserved: 'STREAM_UNREACHABLE' }, { stream }))
}

export async function streamProgress(client: TemporalClient, stream: string): Promise<string | undefined> {
  const describe = () => client.workflow.getHandle(workflowIdOf(client, stream)).describe().catch(ifGone(undefined))
  const run = await within(client, orderTimeoutMs, describe).catch(rethrowAs({}, { stream }))
  return run?.status.name === 'RUNNING' ? `${run.runId}/${run.historyLength}` : undefined
}
