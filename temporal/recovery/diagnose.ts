import type { HistoryEvent } from '../client/visibility/runs.ts'
import type { Finding } from './remedies.ts'

/** temporal.api.enums.v1.TimeoutType. */
const scheduleToStart = 2
/** WorkflowTaskFailedCause: the code does not do what the history says. */
const nonDeterministic = 24

/** Diagnoses the last task. Undefined if it completed, or none ended. Equal failures are recorded once. */
export function diagnoseTask(
  events: readonly HistoryEvent[],
): { finding: Extract<Finding, 'unanswered' | 'unfitting' | 'failing'>; reason: string } | undefined {
  for (const event of events.toReversed()) {
    const { workflowTaskFailedEventAttributes: failed, workflowTaskTimedOutEventAttributes: timedOut } = event
    if (event.workflowTaskCompletedEventAttributes) return undefined
    if (failed)
      return { finding: Number(failed.cause) === nonDeterministic ? 'unfitting' : 'failing', reason: failed.failure?.message ?? '' }
    // Any process may fetch a task that its sticky process did not.
    if (timedOut && Number(timedOut.timeoutType) !== scheduleToStart)
      return { finding: 'unanswered', reason: 'no process answers its tasks' }
  }
  return undefined
}

/** Nothing happened since `quietSince`, ms since the epoch, and no timer runs. */
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
