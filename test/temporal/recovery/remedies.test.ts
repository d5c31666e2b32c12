import { msToTs } from '@temporalio/common/lib/time.js'
import { describe, expect, test } from 'vitest'
import type { HistoryEvent } from '../../../temporal/client/visibility/runs.ts'
import { diagnoseTask, isIdle } from '../../../temporal/recovery/remedies.ts'

const at = (seconds: number): HistoryEvent => ({ eventTime: msToTs(seconds * 1_000) })
const completed: HistoryEvent = { workflowTaskCompletedEventAttributes: {} }
const failed = (cause: number): HistoryEvent => ({ workflowTaskFailedEventAttributes: { cause, failure: { message: 'why' } } })
const timedOut = (timeoutType: number): HistoryEvent => ({ workflowTaskTimedOutEventAttributes: { timeoutType } })
const timer = (timerId: string): HistoryEvent => ({ timerStartedEventAttributes: { timerId } })
const fired = (timerId: string): HistoryEvent => ({ timerFiredEventAttributes: { timerId } })
const canceled = (timerId: string): HistoryEvent => ({ timerCanceledEventAttributes: { timerId } })

describe('the last workflow task', () => {
  test.each([
    ['has not ended', [], undefined],
    ['was completed after a failure', [failed(24), completed, at(1)], undefined],
    ['failed since the history fits nothing', [completed, failed(24)], { finding: 'unfitting', reason: 'why' }],
    ['failed for another reason', [completed, failed(23), at(1)], { finding: 'failing', reason: 'why' }],
    ['was taken and not answered', [completed, timedOut(1)], { finding: 'unanswered', reason: 'no process answers its tasks' }],
    ['was not fetched by the process with the run in its cache', [completed, timedOut(2)], undefined],
    ['failed before it was not fetched', [failed(24), timedOut(2)], { finding: 'unfitting', reason: 'why' }],
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
