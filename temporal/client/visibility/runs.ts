import type { WorkflowHandle } from '@temporalio/client'
import { searchAttributes } from '../../contracts/names.ts'
import type { TemporalClient } from '../connection/client.ts'
import { ifGone } from '../connection/errors.ts'
import { failureMessage } from '../connection/payloads.ts'

export type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number]

export interface RunId {
  readonly workflowId: string
  readonly runId: string
}

/** By a description, since the visibility store lags. */
export interface OpenRun extends RunId {
  readonly type: string
  /** ms since the epoch. */
  readonly startedAt: number
  /** Undefined before its first task. */
  readonly transferState: string | undefined
  /** Undefined: none is pending. */
  readonly taskTries: number | undefined
  readonly hasPendingActivities: boolean
}

export async function* listRuns(client: TemporalClient, query: string): AsyncGenerator<RunId> {
  for await (const { workflowId, runId } of client.workflow.list({ query })) yield { workflowId, runId }
}

/** Undefined: it has ended, or is gone. */
export async function describeOpenRun(client: TemporalClient, { workflowId, runId }: RunId): Promise<OpenRun | undefined> {
  const run = await client.workflow.getHandle(workflowId, runId).describe().catch(ifGone(undefined))
  if (run?.status.name !== 'RUNNING') return undefined
  const { pendingWorkflowTask: task, pendingActivities } = run.raw
  return {
    workflowId,
    runId,
    type: run.type,
    startedAt: run.startTime.getTime(),
    transferState: run.typedSearchAttributes.get(searchAttributes.TransferState),
    taskTries: task ? (task.attempt ?? 0) : undefined,
    hasPendingActivities: (pendingActivities ?? []).length > 0,
  }
}

/** With decrypted messages of failed tasks. Empty if the run is gone. */
export async function readHistory(client: TemporalClient, { workflowId, runId }: RunId): Promise<readonly HistoryEvent[]> {
  const history = await client.workflow.getHandle(workflowId, runId).fetchHistory().catch(ifGone(undefined))
  for (const { workflowTaskFailedEventAttributes: failed } of history?.events ?? [])
    if (failed?.failure) failed.failure.message = await failureMessage(client, workflowId, failed.failure)
  return history?.events ?? []
}

/** Begins after the first task, where every code fits. Keeps input, updates and signals. Safe to repeat. */
export async function resetToFirstTask(client: TemporalClient, run: RunId, why: string): Promise<void> {
  const { workflowId, runId } = run
  const first = (await readHistory(client, run)).find(({ workflowTaskCompletedEventAttributes: done }) => done)
  if (!first) throw new Error(`${workflowId} has ended no task that it could be reset to`)
  await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId, runId },
    reason: `portage: ${why}`,
    requestId: `reset-${runId}`,
    workflowTaskFinishEventId: first.eventId ?? null,
  })
}
