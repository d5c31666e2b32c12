import type { LaneState } from './lane.ts'

/** Ranges that are kept. */
const mostForgotten = 32

/**
 * `after`, which has heard of nonces above the next one of `before`, remembers that this ledger has not given them.
 * @param at ms since the epoch by the ledger's clock
 */
export function rememberForgotten(before: LaneState, after: LaneState, at: number): LaneState {
  const [from, to] = [before.next, after.next]
  if (to <= from) return after
  const known = after.forgotten ?? []
  const last = known.at(-1)
  // A key that is used elsewhere again and again makes one range, which counts as heard of now.
  const ranges = last?.to === from ? [...known.slice(0, -1), { from: last.from, to, at }] : [...known, { from, to, at }]
  return { ...after, forgotten: ranges.slice(-mostForgotten) }
}
