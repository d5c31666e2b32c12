/** A small registry of counters, gauges and histograms that renders the Prometheus text format (version 0.0.4). */

export type MetricKind = 'counter' | 'gauge' | 'histogram'

export interface MetricDefinition<Label extends string = string> {
  readonly name: string
  readonly kind: MetricKind
  readonly help: string
  readonly labels: readonly Label[]
  /** Upper bounds of a histogram's buckets, ascending, without +Inf. */
  readonly buckets?: readonly number[]
}

/** Values per label; every label of the definition must be given, so that series can be added up. */
export type Labels<Label extends string> = Readonly<Record<Label, string | number>>

export interface Metric<Label extends string> {
  /** Counters and gauges: adds `by` (default 1). */
  increment(labels: Labels<Label>, by?: number): void
  /** Gauges: the value now. Counters: the total that someone else counted; a lower one than before means that they restarted. */
  set(labels: Labels<Label>, value: number): void
  /** Histograms: one observation. */
  observe(labels: Labels<Label>, value: number): void
  /** The value (histograms: the count) of a series; 0 if there is none. */
  value(labels: Labels<Label>): number
  render(): string
}

interface Series {
  value: number
  sum: number
  buckets: number[]
}

/** One metric. Throws TypeError for an operation that its kind does not have. */
export function createMetric<Label extends string>(definition: MetricDefinition<Label>): Metric<Label> {
  const { name, kind, help, labels: labelNames, buckets = [] } = definition
  const all = new Map<string, Series>()

  const at = (labels: Labels<Label>): Series => {
    const key = labelNames.map((label) => `${label}="${escapeLabel(String(labels[label]))}"`).join(',')
    let series = all.get(key)
    if (!series) all.set(key, (series = { value: 0, sum: 0, buckets: buckets.map(() => 0) }))
    return series
  }
  const only = (...kinds: MetricKind[]): void => {
    if (!kinds.includes(kind)) throw new TypeError(`${name} is a ${kind}`)
  }

  return {
    increment(labels, by = 1) {
      only('counter', 'gauge')
      at(labels).value += by
    },
    set(labels, value) {
      only('counter', 'gauge')
      at(labels).value = value
    },
    observe(labels, value) {
      only('histogram')
      const series = at(labels)
      series.value += 1
      series.sum += value
      buckets.forEach((bound, index) => {
        if (value <= bound) series.buckets[index]! += 1
      })
    },
    value: (labels) => at(labels).value,
    render() {
      const lines = [`# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`, `# TYPE ${name} ${kind}`]
      for (const [key, series] of all)
        lines.push(...(kind === 'histogram' ? histogram(name, key, buckets, series) : [line(name, key, series.value)]))
      return lines.join('\n')
    },
  }
}

function histogram(name: string, key: string, bounds: readonly number[], series: Series): string[] {
  const bucket = (bound: string, count: number): string => line(`${name}_bucket`, [key, `le="${bound}"`].filter(Boolean).join(','), count)
  return [
    ...bounds.map((bound, index) => bucket(String(bound), series.buckets[index]!)),
    bucket('+Inf', series.value),
    line(`${name}_sum`, key, series.sum),
    line(`${name}_count`, key, series.value),
  ]
}

function line(name: string, key: string, value: number): string {
  return `${name}${key && `{${key}}`} ${value}`
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
