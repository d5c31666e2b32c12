import type { LaneSteps } from '../../temporal/contracts/transfer-steps.ts'
import type { BroadcastDeps } from './acquire-nonce.ts'

/** Raises the fee of an intent's transaction, or of its batch, now, if this process drives it. */
export function createExpedite({ agents, batchRouting }: Pick<BroadcastDeps, 'agents' | 'batchRouting'>): LaneSteps['expedite'] {
  return async ({ lane, intentId }) => {
    const pending = agents.get(lane)?.pendingOf(intentId) ?? batchRouting?.get(lane)?.driven(intentId)?.pending
    if (pending?.unmined) await pending.bump()
  }
}
