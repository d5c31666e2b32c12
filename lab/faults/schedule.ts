import type { Chance } from './random.ts'

export interface ScheduleInput<K> {
  readonly kinds: readonly K[]
  readonly durationMs: number
  readonly firstMs: readonly [least: number, most: number]
  readonly pauseMs: readonly [least: number, most: number]
}

/**
 * Plans all kinds in random order, again and again, until the actions fill `durationMs`. `make` creates each action.
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
