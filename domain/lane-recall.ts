import type { ApplyRequest, LaneState } from './lane.ts'
import { covered } from './lane-observe.ts'

/**
 * The ledger may be an earlier one than the processes know: its workflow was reset, or Temporal restored from yesterday. It has given fewer nonces
 * then than a process was told, and would give those of since once more. They count as handed out; whose they are is forgotten: who drives one
 * goes on, else it is filled. Once the chain shows less than was final, what is known is of another chain, and nothing is raised.
 */
export function recall(state: LaneState, { known, observe }: ApplyRequest): LaneState {
  const latest = observe?.latest ?? state.observed?.latest
  if (!known || state.replaced || known.era !== (state.era ?? 0) || known.granted <= state.counts.granted) return state
  if (latest === undefined || latest < known.finalized) return state
  const next = Math.max(state.next, known.next)
  const { synced, observed, counts } = state
  const entries = synced && observed ? covered(state.entries, next, observed) : state.entries
  return { ...state, next, entries, counts: { ...counts, granted: known.granted } }
}
