import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { LaneStatus } from '../../domain/lane/messages.ts'
import { view } from '../../domain/lane/view.ts'
import { withoutWorkerMs } from '../../domain/lane/reducer/withdraw.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { isLanePolled, queryPagedLane } from '../../temporal/client/lanes/lanes.ts'
import { laneQueue } from '../../temporal/contracts/names.ts'

/** How long an answer about a lane is used, ms: a busy ledger is not to be polled. */
const maxAgeMs = 5_000

export type LaneStatusCache = ReturnType<typeof createLaneStatusCache>

/** The lanes of a chain and whether they take work: asks each lane's ledger, and the server for the pollers of its queue, at most every few seconds. */
export function createLaneStatusCache(client: TemporalClient, lanes: readonly LaneId[]) {
  const known = new Map<LaneId, { until: number; status: Promise<LaneStatus> }>()
  /** A lane whose ledger does not answer counts as open: it refuses for itself. `unserved`: no worker polls its queue, and its ledger was told nothing lately. */
  const status = (lane: LaneId): Promise<LaneStatus> => {
    const entry = known.get(lane)
    if (entry && entry.until > Date.now()) return entry.status
    const asked = ask(client, lane).catch((): LaneStatus => ({ lane, open: true }))
    known.set(lane, { until: Date.now() + maxAgeMs, status: asked })
    return asked
  }
  /** Of all lanes. */
  const statuses = () => Promise.all(lanes.map(status))
  /** Lanes that take new work. If nothing but workers is missing, the unserved ones: work that waits in their queue goes on with the first worker. */
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
  const toldAt = state.observed?.at ?? 0
  if (Date.now() - toldAt <= withoutWorkerMs || (await isLanePolled(client, lane))) return { lane, open: true }
  const since = toldAt > 0 ? `, its ledger was told nothing since ${new Date(toldAt).toISOString()}` : ''
  return { lane, open: false, why: 'unserved', detail: `no worker polls ${laneQueue(lane)}${since}` }
}
