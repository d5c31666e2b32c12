import { metricDefinitions, type Metrics } from '../../observability/metrics.ts'

/** The value of a series, or 0. The labels must be in the order in which Portage writes them. */
export async function metricValue(
  metrics: Pick<Metrics, 'render'>,
  name: keyof typeof metricDefinitions,
  labels: Readonly<Record<string, string>>,
): Promise<number> {
  const text = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  const series = `${metricDefinitions[name].name}{${text.join(',')}} `
  const line = (await metrics.render()).split('\n').find((one) => one.startsWith(series))
  return line === undefined ? 0 : Number(line.slice(series.length))
}
