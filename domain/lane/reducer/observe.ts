import type { Entry, LaneState, Observed, Remembered } from '../lane.ts'
import { rememberForgotten } from './forgotten.ts'
import { inBlock } from '../storage/pack.ts'
import { openFallen, withoutFinal } from '../storage/pages.ts'
import type { Observation, RolledBack } from '../messages.ts'
import { reviewFunds } from './funds.ts'

/** Most nonces that are looked after at once: a node that tells nonsense of the account must not make the ledger too large to work. */
const coveredLimit = 1_000
/** For so long, ms, a lower height than the ledger knows is that of a process whose node lags; longer than any process is silent. */
const leadMs = 60_000

/**
 * The chain's word: ends entries at finality, finds nonces that no process drives, raises `next` after external use, and never lowers it. Once synced,
 * every nonce in [latest, next) has an entry (the lowest 1,000), so that none can block the others.
 */
export function observe(state: LaneState, observation: Observation, now: number): { state: LaneState; rolledBack: RolledBack[] } {
  const known = state.observed
  // Another chain says nothing about the nonces of this ledger.
  if (state.replaced) return { state, rolledBack: [] }
  // A process behind the others (its node lags) may still say which nonces it drives, nothing more.
  if (known && observation.height < known.height) {
    const entries = claimed(state.entries, observation, known.latest)
    // Attempts may have been added since the balance was told.
    if (now - known.leadAt <= leadMs) return { state: reviewFunds({ ...state, observed: { ...known, at: now }, entries }), rolledBack: [] }
    // No process has told of that height, or of a higher one, for so long: a node told nonsense, or the chain has gone back.
    return observe(lowered(state, known, observation.height), observation, now)
  }
  // What is final stays so: a node that says less is behind. What more than half of them say later is the chain's word.
  const finalized = observation.undone ? observation.finalized : Math.max(observation.finalized, known?.finalized ?? 0)
  const seen = { ...observation, finalized, latest: Math.max(observation.latest, finalized) }
  const { fillAfterBlocks } = state.config
  const observed = remembered(known, seen, fillAfterBlocks, now)
  // A trusted look at the account: what the pool holds counts as handed out, also if a ledger that was set back has forgotten it.
  const synced = state.synced || seen.pending !== undefined
  const handedOut = seen.pending === undefined ? state.next : Math.max(state.next, seen.latest, seen.pending)
  const next = synced ? Math.max(handedOut, seen.latest) : handedOut
  const before = known?.latest ?? seen.latest
  const since = Math.max(seen.since, observed.reportedSince ?? 0)
  const { state: open, fell } = openFallen(state, seen.latest)
  const hasFallen = ({ nonce }: Entry) => nonce >= seen.latest && (nonce < before || (nonce >= fell[0] && nonce < fell[1]))
  const entries = settled(
    orphaned(restarted(claimed(open.entries, seen, seen.latest), hasFallen, seen), { ...seen, since }, fillAfterBlocks),
    seen,
  )
  const rolledBack = rolledBackOf(entries, hasFallen, seen)
  const { counts } = state
  const after = reviewFunds({
    ...withoutFinal(open, finalized),
    observed,
    synced,
    entries: synced ? covered(entries, next, seen) : entries,
    next,
    counts: { ...counts, external: counts.external + next - handedOut, rolledBack: counts.rolledBack + rolledBack.length },
  })
  return { state: rememberForgotten(state, after, now), rolledBack }
}

/**
 * Processes report many times within `fillAfterBlocks`. A gap of half of that is an outage that they had in common (Temporal was down, say): the
 * first that comes back must not fill the nonces of those that could not claim them either, so all get their time again.
 */
function remembered(known: Remembered | undefined, seen: Observation, fillAfterBlocks: number, now: number): Remembered {
  const { latest, finalized, height, hash, balance, final = known?.final } = seen
  const gap = known ? height - known.height : 0
  const reportedSince = gap > Math.max(1, Math.floor(fillAfterBlocks / 2)) ? height : known?.reportedSince
  const newest = known?.final && final && known.final.height > final.height ? known.final : final
  return {
    latest,
    finalized,
    height,
    hash,
    balance,
    ...(newest && { final: newest }),
    at: now,
    leadAt: now,
    ...(reportedSince !== undefined && { reportedSince }),
    finalizedAt: known?.finalized === finalized ? known.finalizedAt : height,
  }
}

/** Blocks above this height do not exist: everything that was counted by them begins here. */
function lowered(state: LaneState, observed: Remembered, height: number): LaneState {
  const entries = Object.entries(state.entries).map(([nonce, entry]): [string, Entry] => {
    return [nonce, { ...entry, sinceBlock: Math.min(entry.sinceBlock, height), claimedBlock: Math.min(entry.claimedBlock, height) }]
  })
  return { ...state, entries: Object.fromEntries(entries), observed: { ...observed, height, reportedSince: height, finalizedAt: height } }
}

/** Nonces that are handed out, in no block, and of no owner are inherited: from an earlier ledger, an external transaction, or a block that was rolled back. */
export function covered(entries: LaneState['entries'], next: number, { latest, height }: Observed): Record<string, Entry> {
  const result: Record<string, Entry> = { ...entries }
  for (let nonce = latest; nonce < Math.min(next, latest + coveredLimit); nonce++) {
    result[nonce] ??= { nonce, grantedTo: '', maybeSent: true, sinceBlock: height, claimedBlock: 0, fill: 'inherited', attempts: [] }
  }
  return result
}

/** @param latest nonces below it are in blocks, where no process has to drive them */
function claimed(entries: LaneState['entries'], seen: Observation, latest: number): Record<string, Entry> {
  const result: Record<string, Entry> = { ...entries }
  for (const nonce of seen.claims) {
    const entry = result[nonce]
    if (entry && nonce >= latest && entry.claimedBlock < seen.height) result[nonce] = { ...entry, claimedBlock: seen.height }
  }
  return result
}

/** No process drives a nonce that is in a block. When the block is rolled back its owner gets the full time again before the lane fills it. */
function restarted(entries: Record<string, Entry>, hasFallen: (entry: Entry) => boolean, seen: Observation): Record<string, Entry> {
  const result: Record<string, Entry> = { ...entries }
  for (const entry of Object.values(entries)) {
    if (hasFallen(entry)) result[entry.nonce] = { ...entry, sinceBlock: seen.height }
  }
  return result
}

/** Without the final ones; the lowest is an orphan if no process has claimed it for `fillAfterBlocks`. */
function orphaned(entries: Record<string, Entry>, seen: Observation, fillAfterBlocks: number): Record<string, Entry> {
  const result: Record<string, Entry> = {}
  for (const entry of Object.values(entries)) {
    if (entry.nonce < seen.finalized) continue
    const idle = seen.height - Math.max(entry.sinceBlock, entry.claimedBlock, seen.since)
    const lost = entry.nonce === seen.latest && entry.owner && !entry.fill && idle >= fillAfterBlocks
    result[entry.nonce] = lost ? { ...entry, fill: 'orphaned', maybeSent: true } : entry
  }
  return result
}

/** In a block: heights count for it only once it falls out (`restarted`). All entries that wait for finality are alike in that, and take little room (pack.ts). */
function settled(entries: Record<string, Entry>, { latest }: Observed): Record<string, Entry> {
  for (const entry of Object.values(entries)) {
    const { nonce, sinceBlock, claimedBlock } = entry
    if (nonce < latest && (sinceBlock !== 0 || claimedBlock !== 0)) entries[nonce] = { ...entry, ...inBlock }
  }
  return entries
}

/** Owners whose nonce was in a block before and is not now, unless the reporting process drives it and knows. */
function rolledBackOf(entries: Record<string, Entry>, hasFallen: (entry: Entry) => boolean, seen: Observation): RolledBack[] {
  const claims = new Set(seen.claims)
  return Object.values(entries)
    .filter((entry) => hasFallen(entry) && !claims.has(entry.nonce))
    .flatMap(({ owner, nonce }) => (owner ? [{ intentId: owner.intentId, nonce }] : []))
}
