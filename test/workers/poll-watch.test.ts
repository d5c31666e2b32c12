import type { Worker } from '@temporalio/worker'
import { afterEach, expect, test, vi } from 'vitest'
import { silentLogger } from '../../observability/logger.ts'
import { createPollLook, watchPolls } from '../../workers/process/poll-watch.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const labels = (more: string, queue: string) => `{namespace="default",${more},service_name="temporal-core-sdk",task_queue="${queue}"}`
const begun = (polls: string, queue: string, count: number) =>
  `temporal_long_request_total${labels(`operation="${polls}"`, queue)} ${count}`
const active = (type: string, queue: string, count: number) => `temporal_num_pollers${labels(`poller_type="${type}"`, queue)} ${count}`
const free = (type: string, queue: string, count: number) =>
  `temporal_worker_task_slots_available${labels(`worker_type="${type}"`, queue)} ${count}`
const [workflows, activities] = ['PollWorkflowTaskQueue', 'PollActivityTaskQueue'] as const

/**
 * Reads the counters of a process every 20 s for `count` minutes. `shown` returns the lines of the counters in a
 * minute.
 */
function minutes(count: number, shown: (minute: number) => readonly string[]) {
  let now = 0
  const look = createPollLook(new Set(['ledger', 'lane:a']), () => now)
  let found: ReturnType<typeof look> = []
  for (; now <= count * 60_000; now += 20_000) found = look(shown(Math.floor(now / 60_000)).join('\n'))
  return { found, look, pass: (ms: number) => (now += ms) }
}

test('a queue whose polls begin again and again is polled', () => {
  const { found } = minutes(10, (minute) => [
    begun(workflows, 'ledger', minute),
    active('workflow_task', 'ledger', 1),
    begun(activities, 'lane:a', minute),
  ])
  expect(found).toEqual([])
})

test('a queue is not polled if its polls hang or it has none for new workflows', () => {
  const { found } = minutes(5, (minute) => [
    begun(workflows, 'ledger', minute),
    active('workflow_task', 'ledger', 0),
    active('sticky_workflow_task', 'ledger', 3),
    begun(activities, 'lane:a', 7),
    begun(workflows, 'chain:b', 7),
    begun('UpdateWorkflowExecution', 'ledger', 7),
  ])
  expect(found.map(({ taskQueue, polls }) => [taskQueue, polls])).toEqual([
    ['lane:a', activities],
    ['ledger', 'workflow_task'],
  ])
  expect(found[0]?.forMs).toBeGreaterThanOrEqual(240_000)
})

test('a Worker without free slots counts as polled: a lane may wait for a dead chain', () => {
  const shown = (slots: number) => () => [
    begun(activities, 'lane:a', 7),
    free('ActivityWorker', 'lane:a', slots),
    free('WorkflowWorker', 'lane:a', 5),
  ]
  expect(minutes(10, shown(0)).found).toEqual([])
  expect(minutes(10, shown(1)).found.map(({ taskQueue }) => taskQueue)).toEqual(['lane:a'])
})

test('nothing is reported after a suspension of the process or without metrics', () => {
  const shown = [begun(workflows, 'ledger', 7)]
  const { look, pass } = minutes(2, () => shown)
  pass(3_600_000)
  expect(look(shown.join('\n'))).toEqual([])
  expect(minutes(10, () => []).found).toEqual([])
})

test('a process that does not poll ends after five minutes, plus the time that its steps may take', async () => {
  vi.useFakeTimers()
  const exit = vi.spyOn(process, 'exit').mockImplementation((() => {}) as unknown as typeof process.exit)
  const failure = { abort: vi.fn() }
  const worker = { options: { taskQueue: 'ledger' } } as unknown as Pick<Worker, 'options'>
  const forceMs = 3_600_000
  watchPolls([worker], silentLogger(), failure, { forceMs }, async () => begun(workflows, 'ledger', 7))
  await vi.advanceTimersByTimeAsync(300_000)
  expect(failure.abort).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(20_000)
  expect(failure.abort.mock.calls).toMatchObject([[{ code: 'QUEUE_UNPOLLED', facts: { taskQueue: 'ledger' } }]])
  await vi.advanceTimersByTimeAsync(forceMs + 29_000)
  expect(exit).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(exit.mock.calls).toEqual([[1]])
})
