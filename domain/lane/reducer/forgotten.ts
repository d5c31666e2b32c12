import { reusable, unmined } from '../entries.ts'
import type { Entry, ForgottenNonces, LaneState } from '../lane.ts'

/** Ranges that are kept. */
const mostForgotten = 32

/**
 * `after`, which has heard of nonces that this ledger has not given, remembers them: those above the next one of `before`, and those below it that went back to
 * this ledger unsigned, and that others have used since.
 * @param at ms since the epoch by the ledger's clock
 */
export function rememberForgotten(before: LaneState, after: LaneState, at: number): LaneState {
  const [from, to] = [before.next, after.next]
  const below = unmined(before).filter((entry) => reusable(entry) && isUsed(after, entry))
  if (to <= from && below.length === 0) return after
  let ranges = after.forgotten ?? []
  for (const { nonce } of below) ranges = withRange(ranges, { from: nonce, to: nonce + 1, at })
  if (to > from) ranges = withRange(ranges, { from, to, at })
  return { ...after, forgotten: ranges.slice(-mostForgotten) }
}

/** In a block, or taken for one that may have been given again (`withoutReusable`). */
function isUsed({ observed, entries }: LaneState, { nonce }: Entry): boolean {
  return nonce < (observed?.latest ?? 0) || entries[nonce]?.fill === 'inherited'
}

/** A key that is used elsewhere again and again makes one range, which counts as heard of now. */
function withRange(known: readonly ForgottenNonces[], { from, to, at }: ForgottenNonces): ForgottenNonces[] {
  const last = known.at(-1)
  return last?.to === from ? [...known.slice(0, -1), { from: last.from, to, at }] : [...known, { from, to, at }]
}
