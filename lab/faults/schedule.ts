import type { Chance } from './random.ts'

/** When things of several kinds are done at random, ms. */
export interface ScheduleInput<K> {
  readonly kinds: readonly K[]
  readonly durationMs: number
  /** The first comes so long after the start, at random between the two. */
  readonly firstMs: readonly [least: number, most: number]
  /** Between two. */
  readonly pauseMs: readonly [least: number, most: number]
}

/** All kinds in a random order, then all again in another, until the time is over, each as `make` has it. */
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
