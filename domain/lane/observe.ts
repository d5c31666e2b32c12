import type { Entry, LaneState, Observation, Observed, Remembered, RolledBack } from './lane.ts'
import { reviewFunds } from './funds.ts'

/** So many nonces are looked after at once: a node that once told nonsense of the account must not make the ledger too large to work. */
const coveredLimit = 1_000
/** So long, ms, a lower height than the ledger knows is that of a process whose node lags; longer than any process says nothing. */
const leadMs = 60_000

/**
 * The chain's word: which nonces are in blocks, which are final. Ends entries at finality, finds nonces that nobody drives, raises after
 * foreign use, and never lowers `next`. Once synced, every nonce in [latest, next) has an entry (the lowest 1,000): none is left to block the others.
 */
export function observe(state: LaneState, observation: Observation, now?: number): { state: LaneState; rolledBack: RolledBack[] } {
  const known = state.observed
  // Another chain: nothing that it says is about what the ledger holds.
  if (state.replaced) return { state, rolledBack: [] }
  // A process behind the others (its node lags) may still say what it drives, nothing more.
  if (known && observation.height < known.height) {
    const claiming = { ...heard(state, now), entries: claimed(state.entries, observation) }
    // Attempts may have been added since the balance was told.
    if (!isAlone(known, now)) return { state: reviewFunds(claiming), rolledBack: [] }
    return observe(takenBack(state, observation.height), observation, now)
  }
  // What is final stays so: a node that says less is behind. What more than half of them say later is the chain's word.
  const finalized = observation.undone ? observation.finalized : Math.max(observation.finalized, known?.finalized ?? 0)
  const seen = { ...observation, finalized, latest: Math.max(observation.latest, finalized) }
  const observed = remembered(known, seen, state.config.fillAfterBlocks, now)
  const synced = sync({ ...state, observed }, seen)
  const next = synced.synced ? Math.max(synced.next, seen.latest) : synced.next
  const foreign = next - synced.next
  const before = known?.latest ?? seen.latest
  const watched = Math.max(seen.since, observed.heardSince ?? 0)
  const own = settle(restarted(claimed(synced.entries, seen), before, seen), { ...seen, since: watched }, state.config.fillAfterBlocks)
  const rolledBack = fallen(own, before, seen)
  return {
    state: reviewFunds({
      ...synced,
      entries: synced.synced ? covered(own, next, seen) : own,
      next,
      counts: {
        ...synced.counts,
        foreign: synced.counts.foreign + foreign,
        rolledBack: synced.counts.rolledBack + rolledBack.length,
      },
    }),
    rolledBack,
  }
}

/**
 * Processes tell many times within `fillAfterBlocks`. A gap of half of that is an outage that they had in common (Temporal was down, say): who
 * comes back first must not fill the nonces of those who could not claim them either, so all get their time again.
 */
function remembered(known: Remembered | undefined, seen: Observation, fillAfterBlocks: number, now: number | undefined): Remembered {
  const { latest, finalized, height, hash, balance, final = known?.final } = seen
  const gap = known ? height - known.height : 0
  const heardSince = gap > Math.max(1, Math.floor(fillAfterBlocks / 2)) ? height : known?.heardSince
  const newest = known?.final && final && known.final.height > final.height ? known.final : final
  return {
    latest,
    finalized,
    height,
    hash,
    balance,
    ...(newest && { final: newest }),
    ...(now !== undefined && { at: now, leadAt: now }),
    ...(heardSince !== undefined && { heardSince }),
    finalizedAt: known?.finalized === finalized ? (known.finalizedAt ?? known.height) : height,
  }
}

/**
 * Nobody has told of this height, or of a higher one, for so long: it was a node's nonsense, or the chain has gone back. Ledgers of older versions
 * do not know since when.
 */
function isAlone({ leadAt }: Remembered, now: number | undefined): boolean {
  return leadAt !== undefined && now !== undefined && now - leadAt > leadMs
}

/** Heights above this one never were: what was reckoned by them begins here. */
function takenBack(state: LaneState, height: number): LaneState {
  const within = (entry: Entry): Entry => ({
    ...entry,
    sinceBlock: Math.min(entry.sinceBlock, height),
    claimedBlock: Math.min(entry.claimedBlock, height),
  })
  const entries = Object.fromEntries(Object.entries(state.entries).map(([nonce, entry]) => [nonce, within(entry)]))
  return { ...state, entries, ...(state.observed && { observed: { ...state.observed, height, heardSince: height, finalizedAt: height } }) }
}

function heard(state: LaneState, now: number | undefined): LaneState {
  return state.observed && now !== undefined ? { ...state, observed: { ...state.observed, at: now } } : state
}

/** A trusted look at the account: what the pool holds counts as handed out, also what a ledger that was set back has forgotten. */
function sync(state: LaneState, seen: Observation): LaneState {
  if (seen.pending === undefined) return state
  return { ...state, synced: true, next: Math.max(state.next, seen.latest, seen.pending) }
}

/**
 * Nonces that are handed out, in no block, and not ours are inherited: left in the pool by an earlier ledger, or used by a foreign
 * transaction, or before the ledger's time, in a block that went away.
 */
export function covered(entries: LaneState['entries'], next: number, { latest, height }: Observed): Record<string, Entry> {
  const result: Record<string, Entry> = { ...entries }
  for (let nonce = latest; nonce < Math.min(next, latest + coveredLimit); nonce++) {
    result[nonce] ??= { nonce, grantedTo: '', maybeSent: true, sinceBlock: height, claimedBlock: 0, fill: 'inherited', attempts: [] }
  }
  return result
}

function claimed(entries: LaneState['entries'], seen: Observation): Record<string, Entry> {
  const result: Record<string, Entry> = { ...entries }
  for (const nonce of seen.claims) {
    const entry = result[nonce]
    if (entry && entry.claimedBlock < seen.height) result[nonce] = { ...entry, claimedBlock: seen.height }
  }
  return result
}

/** Nobody drives a nonce that is in a block. When the block goes away its owner gets the full time again before the lane fills it. */
function restarted(entries: Record<string, Entry>, latestBefore: number, seen: Observation): Record<string, Entry> {
  if (seen.latest >= latestBefore) return entries
  const result: Record<string, Entry> = { ...entries }
  for (const entry of Object.values(entries)) {
    if (entry.nonce >= seen.latest && entry.nonce < latestBefore) result[entry.nonce] = { ...entry, sinceBlock: seen.height }
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
