import type { TemporalClient } from '../connection/client.ts'

/**
 * A worker polls at least once a minute (Temporal's matching.longPollExpirationInterval). After this time without a
 * poll it is gone, ms.
 */
const pollerGoneMs = 75_000
/** temporal.api.enums.v1.TaskQueueType. The enum itself is in a package that is not installed. */
const queueKinds = { workflow: 1, activity: 2 } as const

/** The server's view of a task queue. */
export interface QueueState {
  /** A worker polls it, or has in the last 75 s. The server notices a killed worker only by its missing polls. */
  readonly isPolled: boolean
  /** When a worker last began to poll, ms since the epoch. Absent: none in the last minutes. */
  readonly polledAt?: number
  /** Tasks that no worker has taken. */
  readonly waiting: number
  /** Wait of the oldest task, ms; 0: there is none. */
  readonly waitingMs: number
}

/** One call. */
export async function describeQueue(client: TemporalClient, name: string, kind: keyof typeof queueKinds): Promise<QueueState> {
  const { pollers, stats } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name },
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
    taskQueueType: queueKinds[kind],
    reportStats: true,
  })
  const polls = (pollers ?? []).map(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1_000)
  const polledAt = polls.length > 0 ? Math.max(...polls) : undefined
  const { seconds = 0, nanos = 0 } = stats?.approximateBacklogAge ?? {}
  return {
    isPolled: polledAt !== undefined && Date.now() - polledAt < pollerGoneMs,
    ...(polledAt !== undefined && { polledAt }),
    waiting: Number(stats?.approximateBacklogCount ?? 0),
    waitingMs: Number(seconds ?? 0) * 1_000 + Math.round((nanos ?? 0) / 1e6),
  }
}
