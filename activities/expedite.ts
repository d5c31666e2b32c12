import type { LaneId } from '../domain/lane-id.ts'
import type { LaneAgent } from '../lanes/agent.ts'

/** Raises the fee of an intent's transaction now, if this worker drives it. */
export function createExpedite({ agents }: { agents: ReadonlyMap<LaneId, LaneAgent> }) {
  return async function expedite({ lane, intentId }: { lane: LaneId; intentId: string }): Promise<void> {
    const flight = agents.get(lane)?.flightOf(intentId)
    if (flight?.unmined) await flight.bump()
  }
}
