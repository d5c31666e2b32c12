import { startChild } from '../devnet/child.ts'
import { until } from '../devnet/until.ts'
import type { Client } from '@temporalio/client'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'

const worker = fileURLToPath(new URL('empty-worker.ts', import.meta.url))

/** Workflows per second of `count` backlogged workflows of one type, from when the worker runs to the last close. */
export async function yardstick(client: Client, address: string, type: 'empty' | 'oneActivity', count: number): Promise<number> {
  const taskQueue = `bench-${type}-${randomUUID()}`
  await inParallel(count, 50, (index) => client.workflow.start(type, { workflowId: `${taskQueue}-${index}`, taskQueue }))
  const child = await startChild(process.execPath, ['--import', 'tsx', worker, address, taskQueue])
  try {
    await until(() => child.tail().includes('running'), {
      timeoutMs: 60_000,
      everyMs: 5,
      what: 'the yardstick worker',
      giveUp: () => child.ended,
    })
    const started = Date.now()
    await allClosed(client, `TaskQueue = '${taskQueue}'`, count)
    return count / ((Date.now() - started) / 1000)
  } finally {
    await child.stop()
  }
}

/** Resolves when as many workflows of the query are closed. */
export async function allClosed(client: Client, query: string, count: number): Promise<void> {
  await until(async () => (await client.workflow.count(`${query} AND ExecutionStatus != 'Running'`)).count >= count, {
    timeoutMs: 600_000,
    everyMs: 100,
    what: `${count} workflows to close`,
  })
}

/** Calls `work` for 0 … count−1, so many at a time. */
export async function inParallel(count: number, width: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: Math.min(width, count) }, async () => {
      while (next < count) await work(next++)
    }),
  )
}
