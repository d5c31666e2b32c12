import type { Entry, LaneState } from '../lane.ts'
import type { ApplyRequest } from '../messages.ts'
import { reusable } from '../entries.ts'
import { covered } from './observe.ts'
import { rememberForgotten } from './forgotten.ts'
import { inBlock } from '../storage/pack.ts'

/**
 * Repairs a reset or restored ledger, which would grant again the nonces that a process knows.
 * Ignored once the chain shows less than was final: it is another chain.
 * @param now ms since the epoch by the ledger's clock
 * @param fromEarlierRun the request was meant for the run before a reset, see `distrusted`
 */
export function reconcileKnown(state: LaneState, { known, observe }: ApplyRequest, now: number, fromEarlierRun: boolean): LaneState {
  const latest = observe?.latest ?? state.observed?.latest
  if (!known || state.replaced || known.era !== state.era) return state
  if (latest === undefined || latest < known.finalized || known.granted < state.counts.granted) return state
  const more = known.granted > state.counts.granted
  // A replay with as many grants but fewer nonces out: some were returned after the process's last answer.
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

/** Stops grants after a reset, which applies requests in another sequence, until it is known which nonces are out. */
export function distrusted(state: LaneState): LaneState {
  return { ...state, synced: false, entries: withoutReusable(state) }
}

/** Returned nonces may have been granted again by a lost run, so they become inherited. */
function withoutReusable({ entries, observed }: LaneState): LaneState['entries'] {
  const { latest = 0, height = 0 } = observed ?? {}
  // Entries in blocks have no heights, since they may be packed before the next observation.
  const since = ({ nonce }: Entry) => (nonce < latest ? inBlock : { sinceBlock: height })
  const inherited = Object.values(entries)
    .filter(reusable)
    .map((entry) => ({ ...entry, grantedTo: '', maybeSent: true, fill: 'inherited' as const, ...since(entry) }))
  return { ...entries, ...Object.fromEntries(inherited.map((entry) => [entry.nonce, entry])) }
}

function aboveEntries({ entries, pages = [], observed }: LaneState): number {
  return Math.max(observed?.latest ?? 0, ...pages.map(({ to }) => to), ...Object.values(entries).map(({ nonce }) => nonce + 1))
}
