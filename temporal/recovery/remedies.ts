import type { TemporalClient } from '../client/connection/client.ts'
import { type HistoryEvent, resetToFirstTask, type RunId } from '../client/visibility/runs.ts'
import { recordReversal, restartTransfer } from '../client/transfers/start-transfer.ts'

/** SCHEDULE_TO_START of temporal.api.enums.v1.TimeoutType. */
const scheduleToStart = 2
/** NON_DETERMINISTIC_ERROR of temporal.api.enums.v1.WorkflowTaskFailedCause. */
const nonDeterministic = 24

/**
 * Closed transfers are started again, because the chains show their state. Open runs are reset, because only a reset
 * keeps operators' orders.
 */
export const remedies = {
  undone: { action: 'start again', why: 'started again: it closed without an outcome' },
  effectGone: { action: 'start again', why: 'started again: its effect was undone' },
  idle: { action: 'reset', why: 'it waited for nothing' },
  unanswered: { action: 'reset', why: 'no process answered its tasks' },
  unfitting: { action: 'reset', why: 'the code does not match its history' },
  /** A reset cannot repair a bug in the workflow. */
  failing: { action: 'none', why: 'its task fails' },
} as const

export type Finding = keyof typeof remedies

export async function recover(client: TemporalClient, run: RunId, finding: Finding): Promise<boolean> {
  const { action, why } = remedies[finding]
  // Recorded before the restart, so that receivers are notified of the reversal even after a crash.
  if (finding === 'effectGone') await recordReversal(client, run.workflowId)
  if (action === 'start again') await restartTransfer(client, run.workflowId, { why })
  if (action === 'reset') await resetToFirstTask(client, run, why)
  return action !== 'none'
}

/** Undefined if the last task completed, or if none has ended. */
export function diagnoseTask(
  events: readonly HistoryEvent[],
): { finding: Extract<Finding, 'unanswered' | 'unfitting' | 'failing'>; reason: string } | undefined {
  for (const event of events.toReversed()) {
    const { workflowTaskFailedEventAttributes: failed, workflowTaskTimedOutEventAttributes: timedOut } = event
    if (event.workflowTaskCompletedEventAttributes) return undefined
    if (failed)
      return { finding: Number(failed.cause) === nonDeterministic ? 'unfitting' : 'failing', reason: failed.failure?.message ?? '' }
    // Tasks that a sticky process does not fetch go to another process, so this time-out is not a failure.
    if (timedOut && Number(timedOut.timeoutType) !== scheduleToStart)
      return { finding: 'unanswered', reason: 'no process answers its tasks' }
  }
  return undefined
}

/** True if no timer is open, and the last event is a task that completed before `quietSince` (ms since the epoch). */
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
