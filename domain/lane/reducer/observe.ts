import { defined } from '../../defined.ts'
import { reusable, unmined, reviewFunds } from '../entries.ts'
import type { Entry, LaneState, ForgottenNonces, Observed, Remembered } from '../lane.ts'
import { inBlock } from '../storage/pack.ts'
import { openFallen, withoutFinal } from '../storage/pages.ts'
import type { Observation, RolledBack } from '../messages.ts'

/** Maximum number of entries that a false answer of a node can add to the ledger. */
const coveredLimit = 1_000
/** If the known height was reported within this time (ms), a lower height counts as the answer of a lagging node. */
const leadMs = 60_000

/**
 * Applies a process's report. A synced ledger adds entries for missing nonces (up to `coveredLimit`), which no-ops
 * fill.
 */
export function observe(state: LaneState, observation: Observation, now: number): { state: LaneState; rolledBack: RolledBack[] } {
  const known = state.observed
  if (state.replaced) return { state, rolledBack: [] }
  // A process with a lagging node still reports which nonces it drives.
  if (known && observation.height < known.height) {
    const entries = claimed(state.entries, observation, known.latest)
    // Attempts since the last report may have changed the costs, so the funds are reviewed again.
    if (now - known.leadAt <= leadMs)
      return { state: reviewFunds({ ...state, observed: { ...known, at: now }, entries }, now), rolledBack: [] }
    // No process reports the known height any more: a node had given a wrong height, or the chain has gone back.
    return observe(lowered(state, known, observation.height), observation, now)
  }
  // A lower `finalized` comes from a lagging node, unless most nodes report it (`undone`).
  const finalized = observation.undone ? observation.finalized : Math.max(observation.finalized, known?.finalized ?? 0)
  const seen = { ...observation, finalized, latest: Math.max(observation.latest, finalized) }
  const { fillAfterBlocks } = state.config
  const observed = remembered(known, seen, fillAfterBlocks, now)
  // Nonces in the pool count as granted, even if a reset ledger forgot them.
  const synced = state.synced || seen.pending !== undefined
  const handedOut = seen.pending === undefined ? state.next : Math.max(state.next, seen.latest, seen.pending)
  const next = synced ? Math.max(handedOut, seen.latest) : handedOut
  const before = known?.latest ?? seen.latest
  const since = Math.max(seen.since, observed.reportedSince ?? 0)
  const { state: open, fell } = openFallen(state, seen.latest)
  const hasFallen = ({ nonce }: Entry) => nonce >= seen.latest && (nonce < before || (nonce >= fell[0] && nonce < fell[1]))
  const entries: Record<string, Entry> = {}
  for (const entry of Object.values(claimed(open.entries, seen, seen.latest))) {
    if (entry.nonce >= finalized) entries[entry.nonce] = entryAfter(entry, { ...seen, since }, hasFallen(entry), fillAfterBlocks)
  }
  const claims = new Set(seen.claims)
  const rolledBack = Object.values(entries).flatMap((entry) => {
    const { owner, nonce } = entry
    return owner && hasFallen(entry) && !claims.has(nonce) ? [{ intentId: owner.intentId, nonce }] : []
  })
  const { counts } = state
  const external = next - handedOut
  const after = reviewFunds(
    {
      ...withoutFinal(open, finalized),
      observed,
      synced,
      entries: synced ? covered(entries, next, seen) : entries,
      next,
      counts: { ...counts, external: counts.external + external, rolledBack: counts.rolledBack + rolledBack.length },
      ...(external > 0 && { externalAt: now }),
    },
    now,
  )
  return { state: rememberForgotten(state, after, now), rolledBack }
}

/**
 * The account as of this report. After a long gap between reports, all idle times begin again, because no process could
 * claim its nonces in the gap.
 */
function remembered(known: Remembered | undefined, seen: Observation, fillAfterBlocks: number, now: number): Remembered {
  const { latest, finalized, height, hash, balance, final = known?.final } = seen
  const gap = known ? height - known.height : 0
  const reportedSince = gap > Math.max(1, Math.floor(fillAfterBlocks / 2)) ? height : known?.reportedSince
  const lowestSince = known?.latest === latest ? known.lowestSince : height
  const newest = known?.final && final && known.final.height > final.height ? known.final : final
  return {
    latest,
    finalized,
    height,
    hash,
    balance,
    at: now,
    leadAt: now,
    finalizedAt: known?.finalized === finalized ? known.finalizedAt : height,
    ...defined({ final: newest, reportedSince, lowestSince }),
  }
}

function lowered(state: LaneState, observed: Remembered, height: number): LaneState {
  const entries = Object.entries(state.entries).map(([nonce, entry]): [string, Entry] => {
    return [nonce, { ...entry, sinceBlock: Math.min(entry.sinceBlock, height), claimedBlock: Math.min(entry.claimedBlock, height) }]
  })
  return {
    ...state,
    entries: Object.fromEntries(entries),
    observed: { ...observed, height, reportedSince: height, finalizedAt: height, lowestSince: height },
  }
}

export function covered(entries: LaneState['entries'], next: number, { latest, height }: Observed): Record<string, Entry> {
  const result: Record<string, Entry> = { ...entries }
  for (let nonce = latest; nonce < Math.min(next, latest + coveredLimit); nonce++) {
    result[nonce] ??= { nonce, grantedTo: '', maybeSent: true, sinceBlock: height, claimedBlock: 0, fill: 'inherited', attempts: [] }
  }
  return result
}

function claimed(entries: LaneState['entries'], seen: Observation, latest: number): Record<string, Entry> {
  const result: Record<string, Entry> = { ...entries }
  for (const nonce of seen.claims) {
    const entry = result[nonce]
    if (entry && nonce >= latest && entry.claimedBlock < seen.height) result[nonce] = { ...entry, claimedBlock: seen.height }
  }
  return result
}

function entryAfter(entry: Entry, seen: Observation, hasFallen: boolean, fillAfterBlocks: number): Entry {
  const { nonce, owner, fill, claimedBlock } = entry
  // Without heights, an entry in a block takes fewer bytes in a page. A rollback sets the heights again.
  if (nonce < seen.latest) return entry.sinceBlock === 0 && claimedBlock === 0 ? entry : { ...entry, ...inBlock }
  // If a reorg removed the nonce's block, the idle time begins again, so that the lane does not fill the nonce right
  // away.
  const sinceBlock = hasFallen ? seen.height : entry.sinceBlock
  const idle = seen.height - Math.max(sinceBlock, claimedBlock, seen.since)
  const isLost = nonce === seen.latest && owner && !fill && idle >= fillAfterBlocks
  return { ...entry, sinceBlock, ...(isLost && { fill: 'orphaned', maybeSent: true }) }
}

const mostForgotten = 32

export function rememberForgotten(before: LaneState, after: LaneState, at: number): LaneState {
  const [from, to] = [before.next, after.next]
  const below = unmined(before).filter((entry) => reusable(entry) && isUsed(after, entry))
  if (to <= from && below.length === 0) return after
  let ranges = after.forgotten ?? []
  for (const { nonce } of below) ranges = withRange(ranges, { from: nonce, to: nonce + 1, at })
  if (to > from) ranges = withRange(ranges, { from, to, at })
  return { ...after, forgotten: ranges.slice(-mostForgotten) }
}

/** An `inherited` nonce counts as used, because another ledger may have granted it. */
function isUsed({ observed, entries }: LaneState, { nonce }: Entry): boolean {
  return nonce < (observed?.latest ?? 0) || entries[nonce]?.fill === 'inherited'
}

/**
 * Adds a range, joined with the last one if they touch. Otherwise, steady use of the key outside Portage would fill the
 * list.
 */
function withRange(known: readonly ForgottenNonces[], { from, to, at }: ForgottenNonces): ForgottenNonces[] {
  const last = known.at(-1)
  return last?.to === from ? [...known.slice(0, -1), { from: last.from, to, at }] : [...known, { from, to, at }]
}

/** Stops grants until a process reports the account, because a ledger that was reset does not know its last answers. */
export function distrusted(state: LaneState): LaneState {
  return { ...state, synced: false, entries: withoutReusable(state) }
}

/** Makes reusable nonces `inherited`, because the run that a reset removed may have granted them again. */
export function withoutReusable({ entries, observed }: LaneState): LaneState['entries'] {
  const { latest = 0, height = 0 } = observed ?? {}
  // An entry in a block must have no heights, because it may be packed before the next report.
  const since = ({ nonce }: Entry) => (nonce < latest ? inBlock : { sinceBlock: height })
  const inherited = Object.values(entries)
    .filter(reusable)
    .map((entry) => ({ ...entry, grantedTo: '', maybeSent: true, fill: 'inherited' as const, ...since(entry) }))
  return { ...entries, ...Object.fromEntries(inherited.map((entry) => [entry.nonce, entry])) }
}
