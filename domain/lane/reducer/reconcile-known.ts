import type { Entry, LaneState } from '../lane.ts'
import type { ApplyRequest } from '../messages.ts'
import { reusable } from '../entries.ts'
import { covered } from './observe.ts'
import { rememberForgotten } from './forgotten.ts'
import { inBlock } from '../storage/pack.ts'

/**
 * The ledger may be an earlier one than the processes know (reset, restored): it has given fewer nonces than a process was told, and would give the later
 * ones a second time. They count as handed out; a process that drives one goes on, else it is filled. Once the chain shows less than was final, what is
 * known is of another chain.
 * @param now ms since the epoch by the ledger's clock
 * @param fromEarlierRun the request was meant for the run before a reset, see `distrusted`
 */
export function reconcileKnown(state: LaneState, { known, observe }: ApplyRequest, now: number, fromEarlierRun: boolean): LaneState {
  const latest = observe?.latest ?? state.observed?.latest
  if (!known || state.replaced || known.era !== state.era) return state
  if (latest === undefined || latest < known.finalized || known.granted < state.counts.granted) return state
  const more = known.granted > state.counts.granted
  // Applied a second time in their order: as many were given and fewer are out, so some went back after the earlier word.
  if (!more && !(fromEarlierRun && !state.synced && known.next < state.next)) return state
  const next = more ? Math.max(state.next, known.next) : Math.max(known.next, aboveEntries(state))
  const { synced, observed, counts } = state
  const entries = more ? withoutReusable(state) : state.entries
  const reconciled = {
    ...state,
    next,
    entries: synced && observed ? covered(entries, next, observed) : entries,
    counts: { ...counts, granted: known.granted },
  }
  return rememberForgotten(state, reconciled, now)
}

/**
 * A reset applies the requests of the run before it a second time, but not in their order: another nonce would be given than was answered. So they are
 * given nothing new: what the processes know and a look at the account say which nonces are out. A nonce that may have been given is not given again.
 */
export function distrusted(state: LaneState): LaneState {
  return { ...state, synced: false, entries: withoutReusable(state) }
}

/** Nonces that were given back may have been given again since: they become inherited ones. */
function withoutReusable({ entries, observed }: LaneState): LaneState['entries'] {
  const { latest = 0, height = 0 } = observed ?? {}
  // Heights count for what is in no block only: it may be packed before the next observation.
  const since = ({ nonce }: Entry) => (nonce < latest ? inBlock : { sinceBlock: height })
  const inherited = Object.values(entries)
    .filter(reusable)
    .map((entry) => ({ ...entry, grantedTo: '', maybeSent: true, fill: 'inherited' as const, ...since(entry) }))
  return { ...entries, ...Object.fromEntries(inherited.map((entry) => [entry.nonce, entry])) }
}

function aboveEntries({ entries, pages = [], observed }: LaneState): number {
  return Math.max(observed?.latest ?? 0, ...pages.map(({ to }) => to), ...Object.values(entries).map(({ nonce }) => nonce + 1))
}
