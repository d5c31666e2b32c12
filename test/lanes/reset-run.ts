import { randomUUID } from 'node:crypto'
import { until } from '../../lab/devnet/until.ts'
import type { Temporal } from '../../workers/process/temporal.ts'

/**
 * Resets a workflow. With `first`, the new run repeats the first task. With `afterUpdates`, the new run continues after
 * the task that answered the update with this number (from 1). Temporal applies later requests again.
 */
export async function resetRun(
  { client, connection }: Temporal,
  workflowId: string,
  to: 'first' | { afterUpdates: number },
): Promise<void> {
  const handle = client.workflow.getHandle(workflowId)
  const { events } = await handle.fetchHistory()
  const answers = events?.filter(({ workflowExecutionUpdateCompletedEventAttributes: answered }) => answered)
  const kept = to === 'first' ? undefined : answers?.[to.afterUpdates - 1]
  const task = events?.find(
    ({ eventId, workflowTaskCompletedEventAttributes: done }) => done && Number(eventId) > Number(kept?.eventId ?? 0),
  )
  if (!task) throw new Error(`${workflowId} has no task to be reset to`)
  const { runId } = await connection.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId, runId: (await handle.describe()).runId },
    reason: 'a test',
    requestId: randomUUID(),
    workflowTaskFinishEventId: task.eventId,
  })
  const after = client.workflow.getHandle(workflowId, runId)
  const isWorkedOff = async () => {
    const last = (await after.fetchHistory()).events?.at(-1)
    return !last?.workflowTaskScheduledEventAttributes && !last?.workflowTaskStartedEventAttributes
  }
  await until(isWorkedOff, { timeoutMs: 60_000, what: `the reset of ${workflowId} to be worked off` })
}
