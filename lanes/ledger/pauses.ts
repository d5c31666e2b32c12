import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { LaneConfig, PauseReason } from '../../domain/lane/lane.ts'
import type { LaneOrder } from '../../domain/lane/messages.ts'
import { type TemporalClient, within } from '../../temporal/client/connection/client.ts'
import { applyToLane } from '../../temporal/client/lanes/lanes.ts'
import { portageItself } from '../../domain/order.ts'
import { randomUUID } from 'node:crypto'

/** Longest wait for a ledger's answer, ms. */
const answerMs = 10_000

/** Pauses that Portage itself orders, of lanes of the config only. Throws what the Temporal client throws. */
export function createPauses(client: TemporalClient, lanes: ReadonlyMap<LaneId, LaneConfig>) {
  async function order(lane: LaneId, request: LaneOrder): Promise<void> {
    const config = lanes.get(lane)
    if (config) await within(client, answerMs, () => applyToLane(client, lane, { requests: [request] }, { start: { config } }))
  }
  return {
    pause: (lane: LaneId, pause: PauseReason) =>
      order(lane, { kind: 'pause', id: randomUUID(), pause, order: { by: portageItself, reason: pause.reason } }),
    /** Ends a pause of that kind only: an operator may have paused the lane meanwhile. */
    resume: (lane: LaneId, { kind, reason }: PauseReason) =>
      order(lane, { kind: 'resume', id: randomUUID(), only: kind, order: { by: portageItself, reason } }),
  }
}
