/** One reading of a series. `at`: seconds since the start of the run. */
export interface Sample {
  readonly at: number
  readonly value: number
}

/**
 * Maximum growth of a series during the judged time, in the series' unit: `part` of the series' median, but at least
 * `least`.
 */
export interface Limit {
  readonly part: number
  readonly least: number
}

export interface Trend {
  readonly samples: number
  readonly median: number
  readonly last: number
  /** Growth over the judged time, by the Theil–Sen slope: the median slope of all pairs of readings. */
  readonly growth: number
  readonly limit: number
  readonly isFlat: boolean
}

/** Minimum number of readings for a trend. */
const fewest = 8

/** Judges the readings after `warmUpS` seconds. Undefined if there are too few such readings. */
export function trendOf(samples: readonly Sample[], warmUpS: number, { part, least }: Limit): Trend | undefined {
  const judged = samples.filter(({ at }) => at >= warmUpS)
  const [first, last] = [judged[0], judged.at(-1)]
  if (!first || !last || judged.length < fewest) return undefined
  const slopes = judged.flatMap((one, index) =>
    judged.slice(index + 1).flatMap((other) => (other.at > one.at ? [(other.value - one.value) / (other.at - one.at)] : [])),
  )
  const median = middle(judged.map(({ value }) => value))
  const [growth, limit] = [middle(slopes) * (last.at - first.at), Math.max(least, part * median)]
  return { samples: judged.length, median, last: last.value, growth, limit, isFlat: growth <= limit }
}

function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  return ((sorted[Math.ceil(half) - 1] ?? 0) + (sorted[Math.floor(half)] ?? 0)) / 2
}
