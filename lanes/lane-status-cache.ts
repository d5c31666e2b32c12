import type { LaneId } from '../domain/lane/lane-id.ts'
import type { LaneStatus } from '../domain/lane/messages.ts'
import { view } from '../domain/lane/view.ts'
import { unservedMs } from '../domain/lane/withdraw.ts'
import { laneStatusQuery } from '../temporal/contracts/lane.ts'
import { laneQueue, laneWorkflowId } from '../temporal/contracts/names.ts'
import type { Client } from '@temporalio/client'

/** How long an answer about a lane is believed, ms: a busy ledger is not to be polled. */
const believedMs = 5_000
/** A poll lasts a minute at most (Temporal's matching.longPollExpirationInterval): who has not polled for longer is gone. */
const pollerGoneMs = 75_000
/** temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY */
const activityQueue = 2

/** The lanes of a chain and whether they take work. */
export interface LaneStatusCache {
  readonly lanes: readonly LaneId[]
  /**
   * How a lane stands, at most a few seconds ago. A lane that has never worked, or whose ledger does not answer, counts as open: the ledger
   * refuses for itself. `unserved` needs both: no worker polls its queue, and its ledger was told nothing lately. Busy is not dead.
   */
  standing(lane: LaneId): Promise<LaneStatus>
  /** Of all lanes. */
  standings(): Promise<LaneStatus[]>
  /** Lanes that take new work. Where nothing but workers is missing, the unserved ones: work that waits in their queue goes on with the first. */
  open(): Promise<LaneId[]>
}

/** Asks each lane's `status` query, and the server for the pollers of its queue, at most every few seconds. */
export function createLaneStatusCache(client: Client, lanes: readonly LaneId[]): LaneStatusCache {
  const known = new Map<LaneId, { until: number; standing: Promise<LaneStatus> }>()
  const standing = (lane: LaneId): Promise<LaneStatus> => {
    const entry = known.get(lane)
    if (entry && entry.until > Date.now()) return entry.standing
    const answer = ask(client, lane).catch((): LaneStatus => ({ lane, open: true }))
    known.set(lane, { until: Date.now() + believedMs, standing: answer })
    return answer
  }
  const standings = () => Promise.all(lanes.map(standing))
  return {
    lanes,
    standing,
    standings,
    async open() {
      const all = await standings()
      const open = all.filter((one) => one.open)
      return (open.length > 0 ? open : all.filter(({ why }) => why === 'unserved')).map(({ lane }) => lane)
    },
  }
}

async function ask(client: Client, lane: LaneId): Promise<LaneStatus> {
  const state = await client.workflow.getHandle(laneWorkflowId(lane)).query(laneStatusQuery)
  const { closed } = view(state)
  if (closed) return { lane, open: false, ...closed }
  const toldAt = state.observed?.at ?? 0
  if (Date.now() - toldAt <= unservedMs || (await isPolled(client, lane))) return { lane, open: true }
  const since = toldAt > 0 ? `, its ledger was told nothing since ${new Date(toldAt).toISOString()}` : ''
  return { lane, open: false, why: 'unserved', detail: `no worker polls ${laneQueue(lane)}${since}` }
}

async function isPolled(client: Client, lane: LaneId): Promise<boolean> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: laneQueue(lane) },
    // The enum itself is in a package that this room does not import.
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
    taskQueueType: activityQueue,
  })
  return (pollers ?? []).some(({ lastAccessTime }) => Date.now() - Number(lastAccessTime?.seconds ?? 0) * 1_000 < pollerGoneMs)
}
