import type { Client, WorkflowHandle } from '@temporalio/client'

export type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number]

/** temporal.api.enums.v1.TimeoutType. */
const scheduleToStart = 2

/** How the last workflow task ended, if not well: with a failure, or nobody answered in time. The server keeps the first of many like it. */
export type BadTask = { readonly kind: 'failed'; readonly cause: number; readonly reason: string } | { readonly kind: 'unanswered' }

/** Undefined: the last task was completed, or none has ended. */
export function badTask(events: readonly HistoryEvent[]): BadTask | undefined {
  for (const event of events.toReversed()) {
    const { workflowTaskFailedEventAttributes: failed, workflowTaskTimedOutEventAttributes: late } = event
    if (event.workflowTaskCompletedEventAttributes) return undefined
    if (failed) return { kind: 'failed', cause: Number(failed.cause), reason: failed.failure?.message ?? '' }
    // That a process which remembers the run did not come for it says nothing: then it is anybody's.
    if (late && Number(late.timeoutType) !== scheduleToStart) return { kind: 'unanswered' }
  }
  return undefined
}

/**
 * Another run of a workflow from the end of its first task on, before which there is nothing that could not fit. It keeps its input, and what it was told
 * since Temporal tells it once more. The same request id: of many who do it, one does. Throws what the Temporal client throws.
 *
 * @param events those of this run, the first ones at least
 * @param why for the Web UI
 */
export async function resetToBeginning(
  client: Client,
  { workflowId, runId }: { readonly workflowId: string; readonly runId: string },
  events: readonly HistoryEvent[],
  why: string,
): Promise<void> {
  const first = events.find(({ workflowTaskCompletedEventAttributes: done }) => done)
  if (!first) throw new Error(`${workflowId} has ended no task that it could be reset to`)
  await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId, runId },
    reason: `portage: ${why}`,
    requestId: `mend-${runId}`,
    workflowTaskFinishEventId: first.eventId ?? null,
  })
}
