import type { LaneId } from '../../domain/lane/lane.ts'
import type { LaneStatus } from '../../domain/lane/messages.ts'
import { view } from '../../domain/lane/view.ts'
import { withoutWorkerMs } from '../../domain/lane/reducer/grant.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { queryPagedLane } from '../../temporal/client/lanes/lanes.ts'
import { describeQueue } from '../../temporal/client/visibility/task-queues.ts'
import { laneQueue } from '../../temporal/contracts/names.ts'

/** How long a status is cached, ms. A busy ledger must not be polled. */
const maxAgeMs = 5_000

export type LaneStatusCache = ReturnType<typeof createLaneStatusCache>

/** Whether the lanes of a chain take work, by their ledgers and the pollers of their queues. */
export function createLaneStatusCache(client: TemporalClient, lanes: readonly LaneId[]) {
  const known = new Map<LaneId, { until: number; status: Promise<LaneStatus> }>()
  /** A lane without an answer counts as open. `unserved`: its queue has no poller, its ledger no observation. */
  const status = (lane: LaneId): Promise<LaneStatus> => {
    const entry = known.get(lane)
    if (entry && entry.until > Date.now()) return entry.status
    const asked = ask(client, lane).catch((): LaneStatus => ({ lane, open: true }))
    known.set(lane, { until: Date.now() + maxAgeMs, status: asked })
    return asked
  }
  const statuses = () => Promise.all(lanes.map(status))
  /** Lanes that take new work. If there are none, the unserved ones: their queues go on with the first worker. */
  const open = async (): Promise<LaneId[]> => {
    const all = await statuses()
    const taking = all.filter((one) => one.open)
    return (taking.length > 0 ? taking : all.filter(({ why }) => why === 'unserved')).map(({ lane }) => lane)
  }
  return { lanes, status, statuses, open }
}

async function ask(client: TemporalClient, lane: LaneId): Promise<LaneStatus> {
  const state = await queryPagedLane(client, lane)
  const { closed } = view(state)
  if (closed) return { lane, open: false, ...closed }
  const observedAt = state.observed?.at ?? 0
  const isPolled = async () => (await describeQueue(client, laneQueue(lane), 'activity')).isPolled
  if (Date.now() - observedAt <= withoutWorkerMs || (await isPolled())) return { lane, open: true }
  const since = observedAt > 0 ? `, its ledger has had no observation since ${new Date(observedAt).toISOString()}` : ''
  return { lane, open: false, why: 'unserved', detail: `no worker polls ${laneQueue(lane)}${since}` }
}
