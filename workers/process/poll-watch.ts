import type { Worker } from '@temporalio/worker'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Service } from '../roles/context.ts'
import { readSdkMetrics } from '../telemetry/sdk-metrics.ts'
import type { WorkerTuning } from './tuning.ts'

/** The SDK ends a poll after 70 s and begins the next: a queue without a new one for so long is not polled, ms. */
const quietMs = 240_000
/** So much later the process ends, ms. */
const giveUpMs = 60_000
const everyMs = 20_000
/** The process has so much longer to end than its Workers may take (`worker.shutdownForceSeconds`), ms. */
const marginMs = 30_000

/** A queue that this process serves, and does not poll. */
export interface UnpolledQueue {
  readonly taskQueue: string
  /** What the SDK calls its polls. */
  readonly polls: string
  /** ms. */
  readonly forMs: number
}

/**
 * Which of these queues nobody polls, by the metrics of the SDK's core: a Worker may be there, without an error, and poll no more; its process is then alive and
 * of no use. While Temporal is away polls are tried again and again: that is no such case. Where the metrics cannot be read nothing is known.
 * @param clock ms since any moment; for tests
 */
export function createPollLook(queues: ReadonlySet<string>, clock: () => number = () => performance.now()) {
  const moved = new Map<string, { readonly count: string; readonly at: number }>()
  let lookedAt = -Infinity
  return (metrics: string): readonly UnpolledQueue[] => {
    const now = clock()
    // The process was stopped, or had no time at all: what did not move meanwhile says nothing.
    if (now - lookedAt > 3 * everyMs) moved.clear()
    lookedAt = now
    const found = pollsOf(metrics).filter(({ taskQueue }) => queues.has(taskQueue))
    return found.flatMap(({ taskQueue, polls, count, isPolled }) => {
      const key = `${polls} ${taskQueue}`
      const before = moved.get(key)
      if (before === undefined || before.count !== count || isPolled) moved.set(key, { count, at: now })
      const forMs = now - (moved.get(key)?.at ?? now)
      return forMs >= quietMs ? [{ taskQueue, polls, forMs }] : []
    })
  }
}

/**
 * The polls that were begun, by queue, and whether a queue has a poll for new workflows, beside those for the workflows that this process has in memory. A Worker whose slots
 * are all taken polls for no more: a lane whose transactions wait for a dead chain.
 */
function pollsOf(metrics: string) {
  const begun = rowsOf(metrics, 'temporal_long_request_total', /operation="(Poll(?:Workflow|Activity)TaskQueue)"/)
  const active = rowsOf(metrics, 'temporal_num_pollers', /poller_type="(workflow_task)"/)
  const free = rowsOf(metrics, 'temporal_worker_task_slots_available', /worker_type="((?:Workflow|Activity)Worker)"/)
  const full = new Set(free.filter(({ count }) => count === '0').map(({ taskQueue, kind }) => `${kind} ${taskQueue}`))
  const isFull = (taskQueue: string, polls: string) =>
    full.has(`${polls === 'PollActivityTaskQueue' ? 'Activity' : 'Workflow'}Worker ${taskQueue}`)
  return [
    ...begun.map(({ taskQueue, kind, count }) => ({ taskQueue, polls: kind, count, isPolled: isFull(taskQueue, kind) })),
    ...active.map(({ taskQueue, kind, count }) => ({ taskQueue, polls: kind, count, isPolled: count !== '0' || isFull(taskQueue, kind) })),
  ]
}

/** The rows of one metric whose labels match, with the label that the first group finds. */
function rowsOf(metrics: string, name: string, label: RegExp) {
  return [...metrics.matchAll(new RegExp(`^${name}\\{([^}]*)\\} (\\d+)$`, 'gm'))].flatMap(([, labels = '', count = '']) => {
    const kind = label.exec(labels)?.[1]
    return kind === undefined ? [] : [{ taskQueue: /task_queue="([^"]*)"/.exec(labels)?.[1] ?? '', kind, count }]
  })
}

/** What a process knows of its own polls. */
export interface PollWatch extends Service {
  /** Queues that it serves, and does not poll. */
  unpolled(): readonly UnpolledQueue[]
}

/**
 * Looks whether the queues of these Workers are polled.
 * @param failure is aborted where one is not, for too long: whoever started the process starts another one
 * @param tuning its `forceMs`: a Worker that does not poll may not end, either, and the process then ends without it
 */
export function watchPolls(
  workers: readonly Pick<Worker, 'options'>[],
  logger: Logger,
  failure: Pick<AbortController, 'abort'>,
  { forceMs }: Pick<WorkerTuning, 'forceMs'>,
  read: () => Promise<string> = readSdkMetrics,
): PollWatch {
  const look = createPollLook(new Set(workers.map(({ options }) => options.taskQueue)))
  let unpolled: readonly UnpolledQueue[] = []
  const timer = setInterval(() => void watch(), everyMs)

  async function watch(): Promise<void> {
    const known = new Set(unpolled.map(({ taskQueue }) => taskQueue))
    unpolled = look(await read())
    for (const { taskQueue, polls, forMs } of unpolled) {
      const about = { code: 'QUEUE_UNPOLLED', taskQueue, polls, forSeconds: Math.round(forMs / 1_000) } as const
      if (!known.has(taskQueue)) logger.error('a queue is not polled', about)
    }
    const worst = unpolled.find(({ forMs }) => forMs >= quietMs + giveUpMs)
    if (!worst) return
    clearInterval(timer)
    failure.abort(new RelayerError('QUEUE_UNPOLLED', { facts: { taskQueue: worst.taskQueue } }))
    setTimeout(() => process.exit(1), forceMs + marginMs).unref()
  }

  return {
    unpolled: () => unpolled,
    async stop() {
      clearInterval(timer)
    },
  }
}
