import { msToTs } from '@temporalio/common/lib/time.js'
import { temporal } from '@temporalio/proto'
import { describe, expect, test } from 'vitest'
import type { HistoryEvent } from '../../../temporal/client/visibility/runs.ts'
import { diagnoseTask, isIdle } from '../../../temporal/recovery/remedies.ts'

const at = (seconds: number): HistoryEvent => ({ eventTime: msToTs(seconds * 1_000) })
const completed: HistoryEvent = { workflowTaskCompletedEventAttributes: {} }
const { WorkflowTaskFailedCause: Cause, TimeoutType: Timeout } = temporal.api.enums.v1
const failed = (cause: temporal.api.enums.v1.WorkflowTaskFailedCause): HistoryEvent => ({
  workflowTaskFailedEventAttributes: { cause, failure: { message: 'why' } },
})
const timedOut = (timeoutType: temporal.api.enums.v1.TimeoutType): HistoryEvent => ({
  workflowTaskTimedOutEventAttributes: { timeoutType },
})
const timer = (timerId: string): HistoryEvent => ({ timerStartedEventAttributes: { timerId } })
const fired = (timerId: string): HistoryEvent => ({ timerFiredEventAttributes: { timerId } })
const canceled = (timerId: string): HistoryEvent => ({ timerCanceledEventAttributes: { timerId } })

describe('the last workflow task', () => {
  test.each([
    ['has not ended', [], undefined],
    ['was completed after a failure', [failed(Cause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR), completed, at(1)], undefined],
    [
      'failed since the history fits nothing',
      [completed, failed(Cause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR)],
      { finding: 'unfitting', reason: 'why' },
    ],
    [
      'failed for another reason',
      [completed, failed(Cause.WORKFLOW_TASK_FAILED_CAUSE_BAD_SEARCH_ATTRIBUTES), at(1)],
      { finding: 'failing', reason: 'why' },
    ],
    [
      'was taken and not answered',
      [completed, timedOut(Timeout.TIMEOUT_TYPE_START_TO_CLOSE)],
      { finding: 'unanswered', reason: 'no process answers its tasks' },
    ],
    ['was not fetched by the process with the run in its cache', [completed, timedOut(Timeout.TIMEOUT_TYPE_SCHEDULE_TO_START)], undefined],
    [
      'failed before it was not fetched',
      [failed(Cause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR), timedOut(Timeout.TIMEOUT_TYPE_SCHEDULE_TO_START)],
      { finding: 'unfitting', reason: 'why' },
    ],
  ])('the last workflow task is diagnosed: %s', (_, events, diagnosis) => {
    expect(diagnoseTask(events)).toEqual(diagnosis)
  })
})

describe('a run waits for nothing', () => {
  const done = { ...completed, ...at(100) }
  test.each([
    ['its last task is done, and long ago', [done], true],
    ['a timer runs', [timer('1'), timer('2'), fired('1'), done], false],
    ['all timers have fired or were cancelled', [timer('1'), timer('2'), fired('1'), canceled('2'), done], true],
    ['its last event is no task', [done, at(100)], false],
    ['it has no event', [], false],
  ])('an idle run is recognised: %s', (_, events, idle) => {
    expect(isIdle(events, 101_000)).toBe(idle)
  })

  test('a run that did something lately is not idle', () => {
    expect(isIdle([done], 100_000)).toBe(false)
  })
})
