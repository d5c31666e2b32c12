import type { LaneId, LaneState } from '../../domain/lane/lane.ts'
import type { LaneStatus } from '../../domain/lane/messages.ts'
import { view } from '../../domain/lane/view.ts'
import { isReported, mayBeTried } from '../../domain/lane/entries.ts'
import { openUnmined } from '../../domain/lane/storage/pages.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { queryPagedLane } from '../../temporal/client/lanes/lanes.ts'
import { describeQueue } from '../../temporal/client/visibility/runs.ts'
import { laneQueue } from '../../temporal/contracts/names.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Logger } from '../../observability/logger.ts'
import { mapLimited } from '../../runtime/map-limited.ts'
import { keptRead } from '../../runtime/shared-read.ts'
import { startPolling } from '../../runtime/wait.ts'

/** ms for which a lane's status is reused, so that a busy ledger is not polled. */
const maxAgeMs = 5_000

export type LaneStatusCache = ReturnType<typeof createLaneStatusCache>

export function createLaneStatusCache(client: TemporalClient, lanes: readonly LaneId[]) {
  const known = new Map<LaneId, () => Promise<LaneStatus>>()
  /**
   * Status of a lane. A lane whose ledger does not answer counts as open. `unserved`: nobody polls the lane's queue or
   * reports its account.
   */
  const status = (lane: LaneId): Promise<LaneStatus> => {
    const ask = async () => statusOf(client, lane, await queryPagedLane(client, lane))
    const read = () => ask().catch((): LaneStatus => ({ lane, open: true }))
    const kept = known.get(lane) ?? keptRead(read, { fromStart: maxAgeMs })
    known.set(lane, kept)
    return kept()
  }
  const statuses = () => Promise.all(lanes.map(status))
  /**
   * The open lanes. If no lane takes work, lanes without a worker count as open, because their next worker continues
   * their queues.
   */
  const open = async (): Promise<LaneId[]> => {
    const all = await statuses()
    const taking = all.filter((one) => one.open)
    return (taking.length > 0 ? taking : all.filter(({ why }) => why === 'unserved')).map(({ lane }) => lane)
  }
  /** Whether every open lane is on trial, so that perhaps no lane can pay. */
  const onTrial = async (): Promise<boolean> => {
    const taking = (await statuses()).filter((one) => one.open)
    return taking.length > 0 && taking.every((one) => one.onTrial)
  }
  return { lanes, status, statuses, open, onTrial }
}

export async function statusOf(client: TemporalClient, lane: LaneId, state: LaneState): Promise<LaneStatus> {
  const { closed } = view(state)
  const onTrial = closed?.why === 'funds' && mayBeTried(openUnmined(state), Date.now())
  if (closed && !onTrial) return { lane, open: false, ...closed }
  const observedAt = state.observed?.at ?? 0
  const isPolled = async () => (await describeQueue(client, laneQueue(lane), 'activity')).isPolled
  if (isReported(state, Date.now()) || (await isPolled())) return { lane, open: true, ...(onTrial && { onTrial }) }
  const since = observedAt > 0 ? `, its ledger has had no observation since ${new Date(observedAt).toISOString()}` : ''
  return { lane, open: false, why: 'unserved', detail: `no worker polls ${laneQueue(lane)}${since}` }
}

const checkEveryMs = 2_000
const wokenAtOnce = 20
const wokenOnTrial = 5
const mostWaiting = 20_000

interface OpenLaneWatcherOptions {
  readonly lanes: Pick<LaneStatusCache, 'open' | 'onTrial'>
  wake(this: void, id: string): Promise<boolean>
  readonly logger: Logger
  readonly everyMs?: number
}

export type OpenLaneWatcher = ReturnType<typeof createOpenLaneWatcher>

/** Wakes transfers before their own timers fire, once a lane of their chain takes work. */
export function createOpenLaneWatcher({ lanes, wake, logger, everyMs = checkEveryMs }: OpenLaneWatcherOptions) {
  const waiting = new Set<string>()
  const check = async (signal: AbortSignal) => {
    if (waiting.size === 0 || (await lanes.open()).length === 0) return
    let woken = 0
    // Each woken transfer is admitted again. If the lanes are on trial, the first call decides for all transfers.
    const most = (await lanes.onTrial()) ? wokenOnTrial : mostWaiting
    await mapLimited([...waiting].slice(0, most), wokenAtOnce, async (id) => {
      if (signal.aborted) return
      waiting.delete(id)
      try {
        if (await wake(id)) woken++
      } catch (error) {
        waiting.add(id)
        logger.debug('a transfer could not be woken', { transfer: id, reason: toRelayerError(error).message })
      }
    })
    if (woken > 0) logger.info('a lane takes work again', { woken })
  }
  const watchFor = (id: string) => void (waiting.size < mostWaiting && waiting.add(id))
  return { watchFor, start: () => startPolling(check, { everyMs }) }
}
