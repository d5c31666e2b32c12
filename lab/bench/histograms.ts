export interface HistogramSeries {
  readonly labels: Readonly<Record<string, string>>
  readonly count: number
  /** Bounds in ascending order, the last one Infinity. `atMost`: number of values up to the bound. */
  readonly buckets: readonly (readonly [bound: number, atMost: number])[]
}

export function readHistogram(metrics: string, name: string): HistogramSeries[] {
  const series = new Map<string, { labels: Record<string, string>; buckets: [number, number][] }>()
  for (const [, text = '', value] of metrics.matchAll(new RegExp(`^${name}_bucket\\{(.*)\\} (\\S+)$`, 'gm'))) {
    const { le = '+Inf', ...labels } = Object.fromEntries(
      [...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', label = '']) => [key, label]),
    )
    const id = JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => a.localeCompare(b)))
    const known = series.get(id) ?? { labels, buckets: [] }
    known.buckets.push([le === '+Inf' ? Infinity : Number(le), Number(value)])
    series.set(id, known)
  }
  return [...series.values()].map(({ labels, buckets }) => {
    const ordered = buckets.toSorted(([a], [b]) => a - b)
    return { labels, buckets: ordered, count: ordered.at(-1)?.[1] ?? 0 }
  })
}

export function added(all: readonly HistogramSeries[]): HistogramSeries['buckets'] {
  return (all[0]?.buckets ?? []).map(([bound], index) => [bound, all.reduce((sum, { buckets }) => sum + (buckets[index]?.[1] ?? 0), 0)])
}

/**
 * The quantile of a histogram, as Prometheus' histogram_quantile computes it: linear within a bucket. Undefined without
 * values.
 */
export function quantile(buckets: HistogramSeries['buckets'], share: number): number | undefined {
  const count = buckets.at(-1)?.[1] ?? 0
  if (count === 0) return undefined
  const rank = share * count
  let [lower, below] = [0, 0]
  for (const [bound, atMost] of buckets) {
    if (atMost >= rank) return bound === Infinity ? lower : lower + ((bound - lower) * (rank - below)) / Math.max(1, atMost - below)
    ;[lower, below] = [bound, atMost]
  }
  return lower
}
