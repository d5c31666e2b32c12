import type { Worker } from '@temporalio/worker'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Logger } from '../../observability/logger.ts'
import { readSdkMetrics } from '../telemetry/sdk-metrics.ts'
import type { WorkerTuning } from './create-worker.ts'

/** A queue is unpolled if no poll has begun for this time, ms, although the SDK begins a new poll every 70 s. */
const quietMs = 240_000
const giveUpMs = 60_000
const everyMs = 20_000
const marginMs = 30_000

export interface UnpolledQueue {
  readonly taskQueue: string
  readonly polls: string
  readonly forMs: number
}

/** Finds unpolled queues in the metrics of the SDK's core, because a Worker may stop polling without an error. */
export function createPollLook(queues: ReadonlySet<string>, clock: () => number = () => performance.now()) {
  const moved = new Map<string, { readonly count: string; readonly at: number }>()
  let lookedAt = -Infinity
  return (metrics: string): readonly UnpolledQueue[] => {
    const now = clock()
    // If the last look was this long ago, this process was suspended or starved, and unchanged counts prove nothing.
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

/** Polls of each queue. `isPolled`: a poll is open, or the Worker has no free slot to poll for. */
function pollsOf(metrics: string) {
  const rows = metrics.split('\n').flatMap((line) => {
    const [, name, labels = '', count = ''] = /^(\w+)\{([^}]*)\} (\d+)$/.exec(line) ?? []
    return name === undefined ? [] : [{ name, labels, count }]
  })
  const rowsOf = (wanted: string, label: RegExp) =>
    rows.flatMap(({ name, labels, count }) => {
      const kind = name === wanted ? label.exec(labels)?.[1] : undefined
      return kind === undefined ? [] : [{ taskQueue: /task_queue="([^"]*)"/.exec(labels)?.[1] ?? '', kind, count }]
    })
  const begun = rowsOf('temporal_long_request_total', /operation="(Poll(?:Workflow|Activity)TaskQueue)"/)
  const open = rowsOf('temporal_num_pollers', /poller_type="(workflow_task)"/)
  const free = rowsOf('temporal_worker_task_slots_available', /worker_type="((?:Workflow|Activity)Worker)"/)
  const full = new Set(free.filter(({ count }) => count === '0').map(({ taskQueue, kind }) => `${kind} ${taskQueue}`))
  const isFull = (taskQueue: string, polls: string) =>
    full.has(`${polls === 'PollActivityTaskQueue' ? 'Activity' : 'Workflow'}Worker ${taskQueue}`)
  return [...begun, ...open].map((row) => {
    const { taskQueue, kind, count } = row
    return { taskQueue, polls: kind, count, isPolled: isFull(taskQueue, kind) || (open.includes(row) && count !== '0') }
  })
}

/** Aborts `failure` if a queue stays unpolled. After `forceMs` and a margin, ends the process, even if Workers hang. */
export function watchPolls(
  workers: readonly Pick<Worker, 'options'>[],
  logger: Logger,
  failure: Pick<AbortController, 'abort'>,
  { forceMs }: Pick<WorkerTuning, 'forceMs'>,
  read: () => Promise<string> = readSdkMetrics,
) {
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
    async stop(): Promise<void> {
      clearInterval(timer)
    },
  }
}
