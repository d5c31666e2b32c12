export interface Spread {
  readonly min: number
  readonly median: number
  readonly max: number
}

/**
 * Median and range of the values. The lower middle value is the median of an even number of values. Throws Error
 * without values.
 */
export function spread(values: readonly number[], digits = 2): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const [min, median, max] = [sorted[0], sorted[Math.floor((sorted.length - 1) / 2)], sorted.at(-1)]
  if (min === undefined || median === undefined || max === undefined) throw new Error('There are no values')
  return { min: round(min, digits), median: round(median, digits), max: round(max, digits) }
}

export interface Rates {
  /** Rate from `begin` to the last close. */
  readonly perSecond: number
  /** Rate between the 10th and the 90th percentile of the closes, without the slow start and end. */
  readonly sustainedPerSecond: number
}

/**
 * Computes the rates from times in ms since the epoch. Throws Error for fewer than 10 closes, or if all closes have the
 * same time.
 */
export function ratesOf(closes: readonly number[], begin: number): Rates {
  const sorted = [...closes].sort((a, b) => a - b)
  const count = sorted.length
  const [low, high] = [Math.floor(count * 0.1), Math.ceil(count * 0.9) - 1]
  const [from, to, last] = [sorted[low], sorted[high], sorted.at(-1)]
  if (count < 10 || from === undefined || to === undefined || last === undefined) throw new Error(`${count} closes are too few for a rate`)
  if (to <= from || last <= begin) throw new Error('All closed at the same time: nothing was measured')
  return { perSecond: (count * 1000) / (last - begin), sustainedPerSecond: ((high - low) * 1000) / (to - from) }
}

export function closesPerSecond(closes: readonly number[], begin: number): number[] {
  const seconds = closes.map((at) => Math.max(0, Math.floor((at - begin) / 1000)))
  const counts = Array.from({ length: Math.max(-1, ...seconds) + 1 }, () => 0)
  for (const second of seconds) counts[second] = (counts[second] ?? 0) + 1
  return counts
}

export function round(value: number, digits = 2): number {
  const factor = 10 ** digits
  return Math.round(value * factor) / factor
}
