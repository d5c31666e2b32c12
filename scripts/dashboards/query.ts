import { type MetricDefinition, metricDefinitions } from '../../observability/metrics.ts'
import { sdkMetrics } from './sdk-metrics.ts'

type Shown = Pick<MetricDefinition, 'name' | 'kind' | 'labels'>

/** Every metric that a dashboard may ask for, by name. */
export const shownMetrics: ReadonlyMap<string, Shown> = new Map(
  [...Object.values<Shown>(metricDefinitions), ...sdkMetrics].map((metric) => [metric.name, metric]),
)

/** A label by which a whole dashboard can be narrowed. */
export type Filter = 'chain' | 'lane' | 'stream' | 'task_queue'

const window = '$__rate_interval'

/** Expressions for one dashboard: each selector has the dashboard's filters, where its metric has their labels. */
export function queries(...filters: readonly Filter[]) {
  /**
   * Throws Error for an unknown metric or label. @param part for histograms @param matchers such as `state="parked"`
   */
  function select(
    name: string,
    { part, matchers = [] }: { readonly part?: 'bucket' | 'count' | 'sum'; readonly matchers?: readonly string[] } = {},
  ): string {
    const metric = shownMetrics.get(name)
    if (!metric) throw new Error(`there is no metric ${name}`)
    if ((metric.kind === 'histogram') !== (part !== undefined)) throw new Error(`${name} is a ${metric.kind}`)
    for (const matcher of matchers) {
      const [label = ''] = matcher.split(/[=!]/)
      if (!metric.labels.includes(label) && !(part === 'bucket' && label === 'le')) throw new Error(`${name} has no label ${label}`)
    }
    const own = filters.filter((label) => metric.labels.includes(label)).map((label) => `${label}=~"$${label}"`)
    return `${name}${part === undefined ? '' : `_${part}`}{${['job=~"$job"', 'instance=~"$instance"', ...own, ...matchers].join(', ')}}`
  }
  const by = (labels: string) => (labels === '' ? '' : ` by (${labels})`)

  return {
    /** For gauges that have the same value in every process. */
    max: (labels: string, name: string, ...matchers: string[]) => `max${by(labels)} (${select(name, { matchers })})`,
    min: (labels: string, name: string, ...matchers: string[]) => `min${by(labels)} (${select(name, { matchers })})`,
    /** For gauges of which each process has its own part. */
    sum: (labels: string, name: string, ...matchers: string[]) => `sum${by(labels)} (${select(name, { matchers })})`,
    /** A counter per second. */
    rate: (labels: string, name: string, ...matchers: string[]) => `sum${by(labels)} (rate(${select(name, { matchers })}[${window}]))`,
    /** The growth of a counter between two points of the graph. */
    increase: (labels: string, name: string, ...matchers: string[]) =>
      `sum${by(labels)} (increase(${select(name, { matchers })}[${window}]))`,
    /** Observations of a histogram per second. */
    countRate: (labels: string, name: string, ...matchers: string[]) =>
      `sum${by(labels)} (rate(${select(name, { part: 'count', matchers })}[${window}]))`,
    mean: (labels: string, name: string, ...matchers: string[]) =>
      `sum${by(labels)} (rate(${select(name, { part: 'sum', matchers })}[${window}])) / sum${by(labels)} (rate(${select(name, { part: 'count', matchers })}[${window}]))`,
    /** @param share 0.95: 95 % took no longer */
    quantile: (share: number, labels: string, name: string, ...matchers: string[]) =>
      `histogram_quantile(${share}, sum${by(['le', labels].filter((one) => one !== '').join(', '))} (rate(${select(name, { part: 'bucket', matchers })}[${window}])))`,
    /** The share of observations within a bucket. @param bound `300`; Prometheus 3 keeps it as `300.0` */
    within: (bound: string, labels: string, name: string) =>
      `sum${by(labels)} (rate(${select(name, { part: 'bucket', matchers: [`le=~"${bound}(\\\\.0)?"`] })}[${window}])) / sum${by(labels)} (rate(${select(name, { part: 'count' })}[${window}]))`,
  }
}
