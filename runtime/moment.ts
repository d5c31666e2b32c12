/** A moment by both clocks of this machine. */
export interface Moment {
  /** ms since the epoch. */
  readonly wall: number
  /** ms, as `performance.now`. */
  readonly passed: number
}

export function present(): Moment {
  return { wall: Date.now(), passed: performance.now() }
}

export function earlier({ wall, passed }: Moment, ms: number): Moment {
  return { wall: wall - ms, passed: passed - ms }
}

/**
 * Time since the moment, ms, by the clock that shows more of it. The wall clock may have been set back since, and
 * `performance.now` does not advance while the machine is suspended.
 */
export function ageOf({ wall, passed }: Moment, now = present()): number {
  return Math.max(now.wall - wall, now.passed - passed)
}

/**
 * A past time (ms since the epoch) by another machine's clock. It counts as past even if that clock is ahead: if the
 * clocks of the two machines differ by hours, the moment is hours ago.
 */
export function pastByOtherClock(wall: number): Moment {
  return { wall, passed: performance.now() - Math.abs(Date.now() - wall) }
}
