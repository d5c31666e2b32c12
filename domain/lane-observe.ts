import type { Entry, LaneState, Observation, RolledBack } from './lane.ts'

/**
 * The chain's word: which nonces are in blocks, which are final. Ends entries at finality, finds nonces that nobody drives, raises after
 * foreign use, and never lowers `next`.
 */
export function observe(state: LaneState, seen: Observation): { state: LaneState; rolledBack: RolledBack[] } {
  const known = state.observed
  // A process behind the others (its node lags) may still say what it drives, nothing more.
  if (known && seen.height < known.height) return { state: { ...state, entries: claimed(state.entries, seen) }, rolledBack: [] }
  const finalized = Math.max(seen.finalized, known?.finalized ?? 0)
  const { latest, height, hash, balance } = seen
  const synced = sync({ ...state, observed: { latest, finalized, height, hash, balance } }, seen)
  const foreign = synced.synced && latest > synced.next ? latest - synced.next : 0
  const entries = settle(claimed(synced.entries, seen), { ...seen, finalized }, state.config.fillAfterBlocks)
  const rolledBack = known ? fallen(entries, known.latest, seen) : []
  return {
    state: {
      ...synced,
      entries,
      next: synced.synced ? Math.max(synced.next, latest) : synced.next,
      counts: {
        ...synced.counts,
        foreign: synced.counts.foreign + foreign,
        rolledBack: synced.counts.rolledBack + rolledBack.length,
      },
    },
    rolledBack,
  }
}

/** First trusted look at the account. Nonces in [latest, pending) that are not ours were left by an earlier ledger: inherited. */
function sync(state: LaneState, seen: Observation): LaneState {
  if (state.synced || seen.pending === undefined) return state
  const entries: Record<string, Entry> = { ...state.entries }
  for (let nonce = seen.latest; nonce < seen.pending; nonce++) {
    entries[nonce] ??= {
      nonce,
      grantedTo: '',
      maybeSent: true,
      sinceBlock: seen.height,
      claimedBlock: 0,
      fill: 'inherited',
      attempts: [],
    }
  }
  return { ...state, synced: true, next: Math.max(state.next, seen.latest, seen.pending), entries }
}

function claimed(entries: LaneState['entries'], seen: Observation): Record<string, Entry> {
  const result: Record<string, Entry> = { ...entries }
  for (const nonce of seen.claims) {
    const entry = result[nonce]
    if (entry && entry.claimedBlock < seen.height) result[nonce] = { ...entry, claimedBlock: seen.height }
  }
  return result
}

function settle(entries: Record<string, Entry>, seen: Observation, fillAfterBlocks: number): Record<string, Entry> {
  const result: Record<string, Entry> = {}
  for (const entry of Object.values(entries)) {
    if (entry.nonce < seen.finalized) continue
    const idle = seen.height - Math.max(entry.sinceBlock, entry.claimedBlock, seen.since)
    const lost = entry.nonce === seen.latest && entry.owner && !entry.fill && idle >= fillAfterBlocks
    result[entry.nonce] = lost ? { ...entry, fill: 'orphaned', maybeSent: true } : entry
  }
  return result
}

/** Owners whose nonce was in a block before and is not now, unless this process drives it and knows. */
function fallen(entries: Record<string, Entry>, latestBefore: number, seen: Observation): RolledBack[] {
  return Object.values(entries)
    .filter((entry) => entry.nonce >= seen.latest && entry.nonce < latestBefore && !seen.claims.includes(entry.nonce))
    .flatMap((entry) => (entry.owner ? [{ workflowId: entry.owner.workflowId, intentId: entry.owner.intentId, nonce: entry.nonce }] : []))
}
