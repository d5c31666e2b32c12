import type { HistoryEvent } from '../temporal/client/runs.ts'
import type { Finding } from './remedies.ts'

/** temporal.api.enums.v1.TimeoutType. */
const scheduleToStart = 2
/** temporal.api.enums.v1.WorkflowTaskFailedCause: what the code does is not what the history says it did. */
const nonDeterministic = 24

/** What is wrong with the workflow tasks of a run. */
export interface Diagnosis {
  readonly finding: Extract<Finding, 'unanswered' | 'unfitting' | 'failing'>
  readonly reason: string
}

/** How the last workflow task ended: undefined if it was completed, or none has ended. The server keeps the first of many alike. */
export function diagnoseTask(events: readonly HistoryEvent[]): Diagnosis | undefined {
  for (const event of events.toReversed()) {
    const { workflowTaskFailedEventAttributes: failed, workflowTaskTimedOutEventAttributes: timedOut } = event
    if (event.workflowTaskCompletedEventAttributes) return undefined
    if (failed)
      return { finding: Number(failed.cause) === nonDeterministic ? 'unfitting' : 'failing', reason: failed.failure?.message ?? '' }
    // A task that the process which remembers the run did not fetch says nothing: any process may have it then.
    if (timedOut && Number(timedOut.timeoutType) !== scheduleToStart) return { finding: 'unanswered', reason: 'nobody answers its tasks' }
  }
  return undefined
}

/** Nothing has happened since `quietSince`, ms since the epoch, and no timer runs. */
export function isIdle(events: readonly HistoryEvent[], quietSince: number): boolean {
  const timers = new Set<string>()
  for (const { timerStartedEventAttributes: started, timerFiredEventAttributes: fired, timerCanceledEventAttributes: canceled } of events) {
    if (started?.timerId) timers.add(started.timerId)
    timers.delete(fired?.timerId ?? canceled?.timerId ?? '')
  }
  const last = events.at(-1)
  const at = Number(last?.eventTime?.seconds ?? 0) * 1_000
  return last?.workflowTaskCompletedEventAttributes != null && timers.size === 0 && at < quietSince
}
