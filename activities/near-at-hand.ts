import type { LaneId } from '../domain/lane/lane-id.ts'
import type { BroadcastSlots } from '../lanes/broadcast-slots.ts'
import type { LaneSteps } from '../temporal/contracts/transfer-steps.ts'

/** How long a step waits for a nonce, and then follows its transaction, ms. What lasts longer goes on in another step of the lane's queue. */
export interface BroadcastTimes {
  readonly forNonceMs: number
  readonly followMs: number
}

/** Through the lane's queue. After that another step gets the slot, and the workflow waits without one. */
export const queuedTimes: BroadcastTimes = { forNonceMs: 60_000, followMs: 30_000 }
/** Near at hand: some blocks. */
export const nearTimes: BroadcastTimes = { forNonceMs: 5_000, followMs: 15_000 }

/** A lane whose key this process holds, for the workflows of its chain that this process runs. */
export interface NearAtHand {
  readonly slots: BroadcastSlots
  /** With `nearTimes`. */
  readonly broadcast: LaneSteps['broadcast']
}

/** By lane: those whose config lets them. */
export type NearLanes = ReadonlyMap<LaneId, NearAtHand>
