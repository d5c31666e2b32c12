import { metricDefinitions } from '../../observability/metrics.ts'
import { type Described, sdkMetrics } from './sdk-metrics.ts'

export const shownMetrics: ReadonlyMap<string, Described> = new Map(
  [...Object.values<Described>(metricDefinitions), ...sdkMetrics].map((metric) => [metric.name, metric]),
)

export type Filter = 'chain' | 'lane' | 'stream' | 'task_queue'

const window = '$__rate_interval'

/**
 * Builds a dashboard's expressions. Selectors get the dashboard's filters, except filters by a label that the metric
 * lacks.
 */
export function queries(...filters: readonly Filter[]) {
  /**
   * A selector of a metric, with the dashboard's filters. Throws Error for an unknown metric or label.
   * @param part of a histogram
   * @param matchers such as `state="parked"`
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
  const rateOf = (labels: string, selector: string) => `sum${by(labels)} (rate(${selector}[${window}]))`
  const countRate = (labels: string, name: string) => rateOf(labels, select(name, { part: 'count' }))

  return {
    /** For gauges that have the same value in every process. */
    max: (labels: string, name: string, ...matchers: string[]) => `max${by(labels)} (${select(name, { matchers })})`,
    min: (labels: string, name: string) => `min${by(labels)} (${select(name)})`,
    /** For gauges whose value is the sum over all processes. */
    sum: (labels: string, name: string) => `sum${by(labels)} (${select(name)})`,
    rate: (labels: string, name: string) => rateOf(labels, select(name)),
    increase: (labels: string, name: string) => `sum${by(labels)} (increase(${select(name)}[${window}]))`,
    countRate,
    mean: (labels: string, name: string) => `${rateOf(labels, select(name, { part: 'sum' }))} / ${countRate(labels, name)}`,
    /** @param share 0.95: the time that 95 % of the observations did not exceed */
    quantile: (share: number, labels: string, name: string) =>
      `histogram_quantile(${share}, ${rateOf(['le', labels].filter((one) => one !== '').join(', '), select(name, { part: 'bucket' }))})`,
    /**
     * Share of the observations within a bucket.
     * @param bound `300`; Prometheus 3 stores it as `300.0`
     */
    within: (bound: string, labels: string, name: string) =>
      `${rateOf(labels, select(name, { part: 'bucket', matchers: [`le=~"${bound}(\\\\.0)?"`] }))} / ${countRate(labels, name)}`,
  }
}
