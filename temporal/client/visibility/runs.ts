import type { WorkflowHandle } from '@temporalio/client'
import { decodeOptionalFailureToOptionalError } from '@temporalio/common/lib/internal-non-workflow/index.js'
import { searchAttributes } from '../../contracts/names.ts'
import { listWorkflows, type TemporalClient } from '../connection/client.ts'
import { pollerGoneMs } from '../connection/deployments.ts'
import { ifGone } from '../connection/errors.ts'

export type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number]

export interface RunId {
  readonly workflowId: string
  readonly runId: string
}

export type OpenRun = NonNullable<Awaited<ReturnType<typeof describeOpenRun>>>

/** Anyone with access to Temporal can start any number of workflows. */
const mostOthers = 1_000

export interface RunningNames {
  readonly own: readonly string[]
  /** Newest first. */
  readonly others: readonly string[]
  readonly isCut: boolean
}

/**
 * Names of the running workflows of a type. `own`: those in the config. `others`: at most 1,000. If there may be more
 * (`isCut`), `own` has all names of the config, even if their workflows do not run. Leaves out ids without the prefix:
 * they are not Portage's.
 */
export async function runningNames(
  client: TemporalClient,
  type: 'lane' | 'stream' | 'notifier',
  prefix: string,
  configured: readonly string[],
): Promise<RunningNames> {
  const most = mostOthers + configured.length
  const runs = await listWorkflows(client, `WorkflowType = '${type}' AND ExecutionStatus = 'Running'`, { most })
  const isCut = runs.length === most
  const listed = new Set(runs.flatMap(({ workflowId }) => (workflowId.startsWith(prefix) ? [workflowId.slice(prefix.length)] : [])))
  const own = configured.filter((name) => isCut || listed.has(name))
  for (const name of own) listed.delete(name)
  return { own, others: [...listed].slice(0, mostOthers), isCut }
}

/** Asks the server, because the visibility store lags. Returns undefined if the run is closed or gone. */
export async function describeOpenRun(client: TemporalClient, { workflowId, runId }: Pick<RunId, 'workflowId'> & Partial<RunId>) {
  const run = await client.workflow.getHandle(workflowId, runId).describe().catch(ifGone(undefined))
  if (run?.status.name !== 'RUNNING') return undefined
  const { pendingWorkflowTask: task, pendingActivities } = run.raw
  const [activity] = (pendingActivities ?? []).toSorted((a, b) => (b.attempt ?? 0) - (a.attempt ?? 0))
  const failure = activity?.lastFailure
  const since = Number(task?.originalScheduledTime?.seconds ?? 0) * 1_000
  return {
    workflowId,
    runId: run.runId,
    type: run.type,
    startedAt: run.startTime.getTime(),
    transferState: run.typedSearchAttributes.get(searchAttributes.TransferState),
    taskTries: task ? (task.attempt ?? 0) : undefined,
    taskSince: since > 0 ? since : undefined,
    version: run.raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId ?? undefined,
    activity: activity && {
      tries: activity.attempt ?? 0,
      code: failure?.applicationFailureInfo?.type ?? undefined,
      message: async () => (failure ? failureMessage(client, workflowId, failure) : undefined),
    },
  }
}

export async function readHistory(client: TemporalClient, { workflowId, runId }: RunId): Promise<readonly HistoryEvent[]> {
  const history = await client.workflow.getHandle(workflowId, runId).fetchHistory().catch(ifGone(undefined))
  for (const { workflowTaskFailedEventAttributes: failed } of history?.events ?? [])
    if (failed?.failure) failed.failure.message = await failureMessage(client, workflowId, failed.failure)
  return history?.events ?? []
}

async function failureMessage(
  { options: { namespace, loadedDataConverter } }: TemporalClient,
  workflowId: string,
  failure: NonNullable<Parameters<typeof decodeOptionalFailureToOptionalError>[1]>,
): Promise<string> {
  const decoded = decodeOptionalFailureToOptionalError(loadedDataConverter, failure, { type: 'workflow', namespace, workflowId })
  const error = await decoded.catch(() => undefined)
  return error?.message ?? failure.message ?? ''
}

/**
 * Resets a run to its first task, from which any build can continue. Keeps input, updates and signals. Safe to repeat.
 */
export async function resetToFirstTask(client: TemporalClient, run: RunId, why: string): Promise<void> {
  const { workflowId, runId } = run
  const first = (await readHistory(client, run)).find(({ workflowTaskCompletedEventAttributes: done }) => done)
  if (!first) throw new Error(`${workflowId} has no completed task to which it could be reset`)
  await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId, runId },
    reason: `portage: ${why}`,
    requestId: `reset-${runId}`,
    workflowTaskFinishEventId: first.eventId ?? null,
  })
}

/** temporal.api.enums.v1.TaskQueueType, whose package is not installed. */
const queueKinds = { workflow: 1, activity: 2 } as const

export type QueueState = Awaited<ReturnType<typeof describeQueue>>

export async function describeQueue(client: TemporalClient, name: string, kind: keyof typeof queueKinds) {
  const { pollers, stats } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name },
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
    taskQueueType: queueKinds[kind],
    reportStats: true,
  })
  const polls = pollers.map(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1_000)
  const polledAt = polls.length > 0 ? Math.max(...polls) : undefined
  const { seconds = 0, nanos = 0 } = stats?.approximateBacklogAge ?? {}
  return {
    /** Missing polls are the only sign of a killed worker. */
    isPolled: polledAt !== undefined && Date.now() - polledAt < pollerGoneMs,
    ...(polledAt !== undefined && { polledAt }),
    waiting: Number(stats?.approximateBacklogCount ?? 0),
    waitingMs: Number(seconds ?? 0) * 1_000 + Math.round((nanos ?? 0) / 1e6),
  }
}
