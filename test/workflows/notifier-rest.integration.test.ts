import { randomUUID } from 'node:crypto'
import { Worker } from '@temporalio/worker'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { newNotifier } from '../../domain/notification/notifier.ts'
import { silentLogger } from '../../observability/logger.ts'
import { ledgerQueue } from '../../temporal/contracts/names.ts'
import { type NotifierInput, notificationQueue, notifierOrderSignal } from '../../temporal/contracts/notifier.ts'
import { workflowBundle } from '../../workers/process/bundle.ts'
import { startTimeSkipping } from '../helpers/time-skipping.ts'

const hour = 3_600_000

/** Temporal's test server skips the rests. */
let environment: TestWorkflowEnvironment
const workers: Worker[] = []
const triedAt: number[] = []
let running: Promise<unknown>

beforeAll(async () => {
  environment = await startTimeSkipping()
  const { nativeConnection: connection } = environment
  const notify = async () => {
    triedAt.push(await environment.currentTimeMs())
    return { kind: 'unknown' }
  }
  const bundle = await workflowBundle(silentLogger())
  workers.push(await Worker.create({ connection, taskQueue: ledgerQueue, workflowBundle: bundle }))
  workers.push(await Worker.create({ connection, taskQueue: notificationQueue, activities: { notify } }))
  running = Promise.all(workers.map((worker) => worker.run()))
})
afterAll(async () => {
  for (const worker of workers) worker.shutdown()
  await running
})

/** Starts a notifier whose receiver has failed while the clock was ahead. */
async function resting(aheadMs: number) {
  triedAt.length = 0
  const at = await environment.currentTimeMs()
  const failure = { since: at, tries: 1, nextAt: at + aheadMs, why: 'no connection' }
  const input: NotifierInput = { receiver: 'books', state: { ...newNotifier(at), failure } }
  const handle = await environment.client.workflow.start('notifier', { workflowId: randomUUID(), taskQueue: ledgerQueue, args: [input] })
  const restMs = async () => (await handle.result(), (triedAt[0] ?? 0) - at)
  return { at, handle, restMs }
}

test.each([
  ['an hour has passed', 24 * hour, hour],
  ['its shorter rest is over', hour / 2, hour / 2],
])('a receiver that failed while the clock was ahead is tried once %s', async (_, aheadMs, leastMs) => {
  const { restMs } = await resting(aheadMs)
  const rested = await restMs()
  expect(rested).toBeGreaterThanOrEqual(leastMs)
  expect(rested).toBeLessThan(leastMs + hour / 4)
})

test('notifications that are raised during a rest make the rest no longer', async () => {
  const { at, handle, restMs } = await resting(24 * hour)
  for (const id of ['first', 'second']) {
    await environment.sleep(0.4 * hour)
    const notification = { id, type: 'lane.topped_up', at, data: {} } as const
    await handle.signal(notifierOrderSignal, { kind: 'raise', notification })
  }
  const rested = await restMs()
  expect(rested).toBeGreaterThanOrEqual(hour)
  expect(rested).toBeLessThan(1.25 * hour)
})
