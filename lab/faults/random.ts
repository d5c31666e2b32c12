export interface Chance {
  /** A number in [0, 1). */
  next(): number
  whole(least: number, most: number): number
  pick<T>(from: readonly T[]): T
  shuffle<T>(from: readonly T[]): T[]
}

/** The generator mulberry32, seeded with the FNV-1a hash of `seed`. */
export function chanceOf(seed: string): Chance {
  let state = 0x811c9dc5
  for (const letter of seed) state = Math.imul(state ^ (letter.codePointAt(0) ?? 0), 0x01000193)
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const whole = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return {
    next,
    whole,
    pick(from) {
      if (from.length === 0) throw new Error('Nothing to pick from')
      return from[whole(0, from.length - 1)] as (typeof from)[number]
    },
    shuffle(from) {
      const all = [...from]
      for (let at = all.length - 1; at > 0; at--) {
        const other = whole(0, at)
        ;[all[at], all[other]] = [all[other] as (typeof all)[number], all[at] as (typeof all)[number]]
      }
      return all
    },
  }
}
