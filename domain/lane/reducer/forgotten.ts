import { reusable, unmined } from '../entries.ts'
import type { Entry, ForgottenNonces, LaneState } from '../lane.ts'

const mostForgotten = 32

/** Records the nonces used without a grant: above `before.next`, or returned unsigned. @param at ledger's clock, ms */
export function rememberForgotten(before: LaneState, after: LaneState, at: number): LaneState {
  const [from, to] = [before.next, after.next]
  const below = unmined(before).filter((entry) => reusable(entry) && isUsed(after, entry))
  if (to <= from && below.length === 0) return after
  let ranges = after.forgotten ?? []
  for (const { nonce } of below) ranges = withRange(ranges, { from: nonce, to: nonce + 1, at })
  if (to > from) ranges = withRange(ranges, { from, to, at })
  return { ...after, forgotten: ranges.slice(-mostForgotten) }
}

/** In a block, or inherited since another ledger may have granted it (`withoutReusable`). */
function isUsed({ observed, entries }: LaneState, { nonce }: Entry): boolean {
  return nonce < (observed?.latest ?? 0) || entries[nonce]?.fill === 'inherited'
}

/** Joins adjacent ranges, so that a key in use elsewhere makes one range. The range counts as new. */
function withRange(known: readonly ForgottenNonces[], { from, to, at }: ForgottenNonces): ForgottenNonces[] {
  const last = known.at(-1)
  return last?.to === from ? [...known.slice(0, -1), { from: last.from, to, at }] : [...known, { from, to, at }]
}
