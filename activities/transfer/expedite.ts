import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import type { BatchRouting } from '../batch/batch-routing.ts'

export interface ExpediteDeps {
  readonly agents: ReadonlyMap<LaneId, LaneAgent>
  readonly batchRouting?: ReadonlyMap<LaneId, BatchRouting>
}

/** Raises the fee of an intent's transaction, or of its batch, now, if this process drives it. */
export function createExpedite({ agents, batchRouting }: ExpediteDeps) {
  return async function expedite({ lane, intentId }: { lane: LaneId; intentId: string }): Promise<void> {
    const pending = agents.get(lane)?.pendingOf(intentId) ?? batchRouting?.get(lane)?.driven(intentId)?.pending
    if (pending?.unmined) await pending.bump()
  }
}
