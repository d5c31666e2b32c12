import type { Finding } from './remedies.ts'

/** temporal.api.enums.v1.TimeoutType. */
const scheduleToStart = 2
/** temporal.api.enums.v1.WorkflowTaskFailedCause: what the code does is not what the history says it did. */
const nonDeterministic = 24

/** What is read of a history event; the server's names. */
export interface TaskEvent {
  readonly eventTime?: { readonly seconds?: unknown } | null
  readonly workflowTaskCompletedEventAttributes?: object | null
  readonly workflowTaskFailedEventAttributes?: {
    readonly cause?: number | null
    readonly failure?: { readonly message?: string | null } | null
  } | null
  readonly workflowTaskTimedOutEventAttributes?: { readonly timeoutType?: number | null } | null
  readonly timerStartedEventAttributes?: { readonly timerId?: string | null } | null
  readonly timerFiredEventAttributes?: { readonly timerId?: string | null } | null
  readonly timerCanceledEventAttributes?: { readonly timerId?: string | null } | null
}

type TaskFinding = Extract<Finding, 'unanswered' | 'unfitting' | 'failing'>

/** What is wrong with the last workflow task: undefined if it was completed, or none has ended. The server keeps the first of many alike. */
export function diagnoseTask(events: readonly TaskEvent[]): { finding: TaskFinding; reason: string } | undefined {
  for (const event of events.toReversed()) {
    const { workflowTaskFailedEventAttributes: failed, workflowTaskTimedOutEventAttributes: timedOut } = event
    if (event.workflowTaskCompletedEventAttributes) return undefined
    if (failed)
      return { finding: Number(failed.cause) === nonDeterministic ? 'unfitting' : 'failing', reason: failed.failure?.message ?? '' }
    // A task that was not fetched by the process which has the run in its cache is no sign: any process may fetch it then.
    if (timedOut && Number(timedOut.timeoutType) !== scheduleToStart)
      return { finding: 'unanswered', reason: 'no process answers its tasks' }
  }
  return undefined
}

/** Nothing has happened since `quietSince`, ms since the epoch, and no timer runs. */
export function isIdle(events: readonly TaskEvent[], quietSince: number): boolean {
  const timers = new Set<string>()
  for (const { timerStartedEventAttributes: started, timerFiredEventAttributes: fired, timerCanceledEventAttributes: canceled } of events) {
    if (started?.timerId) timers.add(started.timerId)
    timers.delete(fired?.timerId ?? canceled?.timerId ?? '')
  }
  const last = events.at(-1)
  const at = Number(last?.eventTime?.seconds ?? 0) * 1_000
  return last?.workflowTaskCompletedEventAttributes != null && timers.size === 0 && at < quietSince
}
