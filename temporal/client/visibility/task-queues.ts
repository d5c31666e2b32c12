import type { TemporalClient } from '../connection/client.ts'

/** ms. A worker polls at least once a minute (matching.longPollExpirationInterval). */
const pollerGoneMs = 75_000
/** temporal.api.enums.v1.TaskQueueType, whose package is not installed. */
const queueKinds = { workflow: 1, activity: 2 } as const

export interface QueueState {
  /** Now or in the last 75 s: the server notices a killed worker only by its missing polls. */
  readonly isPolled: boolean
  /** ms since the epoch. Absent: not in the last minutes. */
  readonly polledAt?: number
  /** Tasks. */
  readonly waiting: number
  /** Of the oldest task; 0: there is none. */
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
