import type { Entry, LaneState, Observed, Remembered } from '../lane.ts'
import { rememberForgotten } from './forgotten.ts'
import { inBlock } from '../storage/pack.ts'
import { openFallen, withoutFinal } from '../storage/pages.ts'
import type { Observation, RolledBack } from '../messages.ts'
import { reviewFunds } from './funds.ts'

/** Most nonces that get an entry at once, so that a false answer of a node cannot blow up the ledger. */
const coveredLimit = 1_000
/** For this time, ms, a lower height counts as that of a lagging node. Longer than any process is silent. */
const leadMs = 60_000

/** Applies an observation. Once synced, [latest, next) has entries (the lowest 1,000), so that none blocks others. */
export function observe(state: LaneState, observation: Observation, now: number): { state: LaneState; rolledBack: RolledBack[] } {
  const known = state.observed
  // The observation is of another chain.
  if (state.replaced) return { state, rolledBack: [] }
  // A process with a lagging node may still report which nonces it drives.
  if (known && observation.height < known.height) {
    const entries = claimed(state.entries, observation, known.latest)
    // Attempts may have been added since the balance was reported.
    if (now - known.leadAt <= leadMs) return { state: reviewFunds({ ...state, observed: { ...known, at: now }, entries }), rolledBack: [] }
    // Nobody reported that height or a higher one for long: a node was wrong, or the chain has gone back.
    return observe(lowered(state, known, observation.height), observation, now)
  }
  // A lower finality means a lagging node, unless most nodes say so.
  const finalized = observation.undone ? observation.finalized : Math.max(observation.finalized, known?.finalized ?? 0)
  const seen = { ...observation, finalized, latest: Math.max(observation.latest, finalized) }
  const { fillAfterBlocks } = state.config
  const observed = remembered(known, seen, fillAfterBlocks, now)
  // A trusted count with the pool: its transactions count as handed out, even if the ledger was reset and forgot them.
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

/** After a gap of half of `fillAfterBlocks` all nonces get their time again: their processes could not claim them. */
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

/** No block above this height exists. All counts by height restart here. */
function lowered(state: LaneState, observed: Remembered, height: number): LaneState {
  const entries = Object.entries(state.entries).map(([nonce, entry]): [string, Entry] => {
    return [nonce, { ...entry, sinceBlock: Math.min(entry.sinceBlock, height), claimedBlock: Math.min(entry.claimedBlock, height) }]
  })
  return { ...state, entries: Object.fromEntries(entries), observed: { ...observed, height, reportedSince: height, finalizedAt: height } }
}

/** Gives unmined nonces without an entry to the lane: an earlier ledger's, external, or rolled back. */
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

/** Restarts the time of nonces that fell out of their block, so that the lane does not fill them at once. */
function restarted(entries: Record<string, Entry>, hasFallen: (entry: Entry) => boolean, seen: Observation): Record<string, Entry> {
  const result: Record<string, Entry> = { ...entries }
  for (const entry of Object.values(entries)) {
    if (hasFallen(entry)) result[entry.nonce] = { ...entry, sinceBlock: seen.height }
  }
  return result
}

/** Drops final entries. The lowest unmined one is an orphan if no process claimed it for `fillAfterBlocks`. */
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

/** Clears the heights of entries in blocks: only a rollback needs them (`restarted`), and equal entries pack well. */
function settled(entries: Record<string, Entry>, { latest }: Observed): Record<string, Entry> {
  for (const entry of Object.values(entries)) {
    const { nonce, sinceBlock, claimedBlock } = entry
    if (nonce < latest && (sinceBlock !== 0 || claimedBlock !== 0)) entries[nonce] = { ...entry, ...inBlock }
  }
  return entries
}

function rolledBackOf(entries: Record<string, Entry>, hasFallen: (entry: Entry) => boolean, seen: Observation): RolledBack[] {
  const claims = new Set(seen.claims)
  return Object.values(entries)
    .filter((entry) => hasFallen(entry) && !claims.has(entry.nonce))
    .flatMap(({ owner, nonce }) => (owner ? [{ intentId: owner.intentId, nonce }] : []))
}
