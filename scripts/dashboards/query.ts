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
   * @param part of a histogram: bucket, count or sum @param matchers such as `state="parked"`. Throws Error for a
   * metric or a label that there is not.
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
    /** What every process that knows it says alike. */
    max: (labels: string, name: string, ...matchers: string[]) => `max${by(labels)} (${select(name, { matchers })})`,
    min: (labels: string, name: string, ...matchers: string[]) => `min${by(labels)} (${select(name, { matchers })})`,
    /** Of what each process has a part of its own. */
    sum: (labels: string, name: string, ...matchers: string[]) => `sum${by(labels)} (${select(name, { matchers })})`,
    /** Of a counter, per second. */
    rate: (labels: string, name: string, ...matchers: string[]) => `sum${by(labels)} (rate(${select(name, { matchers })}[${window}]))`,
    /** Of a counter, so many in what the graph shows per point. */
    increase: (labels: string, name: string, ...matchers: string[]) =>
      `sum${by(labels)} (increase(${select(name, { matchers })}[${window}]))`,
    /** Of a histogram: observations per second. */
    countRate: (labels: string, name: string, ...matchers: string[]) =>
      `sum${by(labels)} (rate(${select(name, { part: 'count', matchers })}[${window}]))`,
    /** Of a histogram. */
    mean: (labels: string, name: string, ...matchers: string[]) =>
      `sum${by(labels)} (rate(${select(name, { part: 'sum', matchers })}[${window}])) / sum${by(labels)} (rate(${select(name, { part: 'count', matchers })}[${window}]))`,
    /** Of a histogram. @param share 0.95: 95 % took no longer */
    quantile: (share: number, labels: string, name: string, ...matchers: string[]) =>
      `histogram_quantile(${share}, sum${by(['le', labels].filter((one) => one !== '').join(', '))} (rate(${select(name, { part: 'bucket', matchers })}[${window}])))`,
    /**
     * Of a histogram: the share of observations within a bucket's bound. @param bound whole: `300`, which Prometheus 3
     * keeps as `300.0`
     */
    within: (bound: string, labels: string, name: string) =>
      `sum${by(labels)} (rate(${select(name, { part: 'bucket', matchers: [`le=~"${bound}(\\\\.0)?"`] })}[${window}])) / sum${by(labels)} (rate(${select(name, { part: 'count' })}[${window}]))`,
  }
}
