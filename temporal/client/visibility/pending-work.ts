import { type TemporalClient } from '../connection/client.ts'
import { ifGone } from '../connection/errors.ts'
import { failureMessage } from '../connection/payloads.ts'
import type { RunId } from './runs.ts'

export interface PendingWork {
  readonly type: string
  /** 0: none is pending. */
  readonly taskTries: number
  /** ms since the epoch. */
  readonly taskSince?: number
  /** The one with the most tries. */
  readonly activity?: {
    readonly name: string
    readonly tries: number
    /** Of its last failure. Absent: none. */
    readonly code?: string
    readonly message?: string
  }
}

/** One call. Undefined: it has ended, or is gone. Without a run id: the latest. */
export async function describePendingWork(
  client: TemporalClient,
  { workflowId, runId }: Pick<RunId, 'workflowId'> & Partial<RunId>,
): Promise<PendingWork | undefined> {
  const run = await client.workflow.getHandle(workflowId, runId).describe().catch(ifGone(undefined))
  if (run?.status.name !== 'RUNNING') return undefined
  const { pendingWorkflowTask: task, pendingActivities } = run.raw
  const [activity] = (pendingActivities ?? []).toSorted((a, b) => (b.attempt ?? 0) - (a.attempt ?? 0))
  const failure = activity?.lastFailure
  const code = failure?.applicationFailureInfo?.type
  const since = Number(task?.originalScheduledTime?.seconds ?? 0) * 1_000
  return {
    type: run.type,
    taskTries: task ? (task.attempt ?? 0) : 0,
    ...(since > 0 && { taskSince: since }),
    ...(activity && {
      activity: {
        name: activity.activityType?.name ?? '',
        tries: activity.attempt ?? 0,
        ...(typeof code === 'string' && { code }),
        ...(failure && { message: await failureMessage(client, workflowId, failure) }),
      },
    }),
  }
}
