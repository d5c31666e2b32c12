import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { Client } from '@temporalio/client'
import { startChild } from '../devnet/child.ts'
import { until } from '../devnet/until.ts'
import { inParallel } from './closes.ts'
import { type Measured, namedThreads } from './cpu-meter.ts'
import { measure, type Measurement } from './measure.ts'

export const yardsticks = ['empty', 'oneActivity'] as const
export type Yardstick = (typeof yardsticks)[number]

const worker = fileURLToPath(new URL('./empty-worker.ts', import.meta.url))

export const workerName = 'worker'

/** Starts `count` workflows of one type, then their worker, and measures until all have closed. */
export async function yardstick(
  client: Client,
  address: string,
  type: Yardstick,
  { count, others }: { readonly count: number; readonly others: Measured },
): Promise<Measurement> {
  const taskQueue = `bench-${type}-${randomUUID()}`
  await inParallel(count, 50, (index) => client.workflow.start(type, { workflowId: `${taskQueue}-${index}`, taskQueue }))
  const env = { ...process.env, ...namedThreads }
  const child = await startChild(process.execPath, ['--import', 'tsx', worker, address, taskQueue], { env })
  const giveUp = () => child.ended && `the worker ${child.ended}: ${child.tail()}`
  try {
    await until(() => child.tail().includes('running'), { timeoutMs: 60_000, everyMs: 5, what: 'the yardstick worker', giveUp })
    const measured = { ...others, [workerName]: [child.pid] }
    return await measure({ client, query: `TaskQueue = '${taskQueue}'`, count, measured, giveUp })
  } finally {
    await child.stop()
  }
}
