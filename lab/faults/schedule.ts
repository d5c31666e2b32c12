import type { Chance } from './random.ts'

/** Kinds of actions and bounds of the times between them, ms. */
export interface ScheduleInput<K> {
  readonly kinds: readonly K[]
  readonly durationMs: number
  /** Bounds of the random wait before the first action. */
  readonly firstMs: readonly [least: number, most: number]
  /** Bounds of the wait between two actions. */
  readonly pauseMs: readonly [least: number, most: number]
}

/**
 * Plans all kinds in a random order, then all again in another order, until the time is over. `make` makes each action.
 */
export function schedule<K, T>(
  chance: Chance,
  { kinds, durationMs, firstMs, pauseMs }: ScheduleInput<K>,
  make: (atMs: number, kind: K) => T,
): T[] {
  const made: T[] = []
  let deck: K[] = []
  let atMs = chance.whole(...firstMs)
  while (atMs < durationMs && kinds.length > 0) {
    if (deck.length === 0) deck = chance.shuffle(kinds)
    made.push(make(atMs, deck.pop() as K))
    atMs += chance.whole(...pauseMs)
  }
  return made
}
