import type { Client } from '@temporalio/client'
import { isGrpcServiceError, ServiceError, WithStartWorkflowOperation, WorkflowUpdateFailedError } from '@temporalio/client'
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common'
import { RelayerError } from '../domain/errors.ts'
import type { StreamResponse, StreamState, StreamUpdate } from '../domain/stream/stream.ts'
import { redactText } from '../observability/redact.ts'
import { malformedUpdate, runIsFull } from '../temporal/contracts/lane.ts'
import { ledgerQueue } from '../temporal/contracts/names.ts'
import { streamStatusQuery, streamWorkflowId, applyStreamUpdate } from '../temporal/contracts/stream.ts'
import type { StreamInput } from '../temporal/contracts/stream.ts'

/** A query is answered within a task of the worker, or nobody serves the queue, ms. */
const queryTimeoutMs = 5_000

/**
 * One update of a stream. Throws what the client throws: `isGone`, `refusal` and everything else, which means "tell it again".
 * @param input absent: of a stream that is there. Else it begins with this if it is not: that is the only way a stream comes into being.
 */
export function applyOnStream(
  client: Client,
  stream: string,
  update: StreamUpdate,
  options: { readonly updateId?: string; readonly input?: StreamInput } = {},
): Promise<StreamResponse> {
  const { updateId, input } = options
  const workflowId = streamWorkflowId(stream)
  const named = { args: [update] as [StreamUpdate], ...(updateId && { updateId }) }
  if (!input) return client.workflow.getHandle(workflowId).executeUpdate(applyStreamUpdate, named)
  const startWorkflowOperation = new WithStartWorkflowOperation('stream', {
    workflowId,
    taskQueue: ledgerQueue,
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    args: [input],
    staticSummary: `numbered source ${stream}`,
  })
  return client.workflow.executeUpdateWithStart(applyStreamUpdate, { ...named, startWorkflowOperation })
}

/** The whole state; undefined: there is no such stream. Throws STREAM_UNREACHABLE (no worker answers), TEMPORAL_UNAVAILABLE. */
export async function queryState(client: Client, stream: string): Promise<StreamState | undefined> {
  try {
    const handle = client.workflow.getHandle(streamWorkflowId(stream))
    return await client.withDeadline(Date.now() + queryTimeoutMs, () => handle.query(streamStatusQuery))
  } catch (error) {
    if (isGone(error)) return undefined
    const away = isTemporalAway(error)
    const detail = redactText(error instanceof Error ? error.message : String(error))
    throw new RelayerError(away ? 'TEMPORAL_UNAVAILABLE' : 'STREAM_UNREACHABLE', { detail, facts: { stream }, cause: error })
  }
}

/** gRPC: CANCELLED and DEADLINE_EXCEEDED (our deadline ended the wait), FAILED_PRECONDITION (no poller): the server is there, and no worker. */
const unserved = [1, 4, 9]

/** The server itself refuses or cannot be reached; false for everything that means that no worker of the queue answers. */
export function isTemporalAway(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error
  return isGrpcServiceError(cause) && !unserved.includes(cause.code)
}

/** No run of the stream takes updates: it never was, it was ended, or Temporal was wiped. */
export function isGone(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError
}

/** What a stream said when it refused an update; nothing for every other error. */
export function refusal(error: unknown): { readonly malformed?: string; readonly full?: true } {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined
  if (!(cause instanceof ApplicationFailure)) return {}
  if (cause.type === malformedUpdate) return { malformed: cause.message }
  return cause.type === runIsFull ? { full: true } : {}
}
