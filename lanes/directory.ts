import type { LaneId } from '../domain/lane-id.ts'
import { laneStatusQuery } from '../temporal/messages.ts'
import { laneWorkflowId } from '../temporal/names.ts'
import type { Client } from '@temporalio/client'

/** How long an answer of a lane is believed, ms: a busy ledger is not to be polled. */
const believedMs = 5_000

/** The lanes of a chain and whether they take work. */
export interface LaneDirectory {
  readonly lanes: readonly LaneId[]
  /** Lanes that are not paused. A lane that has never worked, or does not answer, counts as open: the ledger refuses for itself. */
  open(): Promise<LaneId[]>
}

/** Asks each lane's `status` query at most every few seconds. */
export function createLaneDirectory(client: Client, lanes: readonly LaneId[]): LaneDirectory {
  const known = new Map<LaneId, { until: number; paused: Promise<boolean> }>()
  const paused = (lane: LaneId): Promise<boolean> => {
    const entry = known.get(lane)
    if (entry && entry.until > Date.now()) return entry.paused
    const answer = client.workflow
      .getHandle(laneWorkflowId(lane))
      .query(laneStatusQuery)
      .then((state) => state.paused !== undefined)
      .catch(() => false)
    known.set(lane, { until: Date.now() + believedMs, paused: answer })
    return answer
  }
  return {
    lanes,
    async open() {
      if (lanes.length === 1) return [...lanes]
      const answers = await Promise.all(lanes.map(paused))
      return lanes.filter((_, index) => !answers[index])
    },
  }
}
