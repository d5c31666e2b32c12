import type { ApplyRequest, Entry, LaneState } from './lane.ts'
import { reusable } from './entries.ts'
import { covered } from './observe.ts'

/**
 * The ledger may be an earlier one than the processes know: its workflow was reset, or Temporal restored from yesterday. It has given fewer nonces
 * then than a process was told, and would give those of since once more. They count as handed out; whose they are is forgotten: who drives one
 * goes on, else it is filled. Once the chain shows less than was final, what is known is of another chain, and nothing is raised.
 * @param ofBefore asked of the run before a reset, see `doubted`
 */
export function recall(state: LaneState, { known, observe }: ApplyRequest, ofBefore = false): LaneState {
  const latest = observe?.latest ?? state.observed?.latest
  if (!known || state.replaced || known.era !== (state.era ?? 0)) return state
  if (latest === undefined || latest < known.finalized || known.granted < state.counts.granted) return state
  const more = known.granted > state.counts.granted
  // Applied once more in their order: as many were given and fewer are out, so some went back after the earlier word.
  if (!more && !(ofBefore && !state.synced && known.next < state.next)) return state
  const next = more ? Math.max(state.next, known.next) : Math.max(known.next, above(state))
  const { synced, observed, counts } = state
  const entries = more ? taken(state) : state.entries
  return {
    ...state,
    next,
    entries: synced && observed ? covered(entries, next, observed) : entries,
    counts: { ...counts, granted: known.granted },
  }
}

/**
 * A reset applies what the run before it was told once more, but signals and updates not in the order in which they came: a pause by signal comes
 * too early or too late for what it refused, and another nonce would be given than was answered, or one where none was. So of before nothing new
 * is given: what the processes know, and what the pool holds, says what is out (`recall`, and a look at the account), and what may have gone to
 * somebody is not given again.
 */
export function doubted(state: LaneState): LaneState {
  return { ...state, synced: false, entries: taken(state) }
}

/** Nonces that were given back may have been given again since. */
function taken({ entries, observed }: LaneState): LaneState['entries'] {
  const sinceBlock = observed?.height ?? 0
  const doubtful = Object.values(entries).filter(reusable)
  const inherited = doubtful.map((entry): [string, Entry] => [
    String(entry.nonce),
    { ...entry, grantedTo: '', maybeSent: true, fill: 'inherited', sinceBlock },
  ])
  return inherited.length > 0 ? { ...entries, ...Object.fromEntries(inherited) } : entries
}

function above({ entries, observed }: LaneState): number {
  return Math.max(observed?.latest ?? 0, ...Object.values(entries).map(({ nonce }) => nonce + 1))
}
