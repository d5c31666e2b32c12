import { markdownTable } from './markdown.ts'
import { metricDefinitions } from '../../observability/metrics.ts'

/** docs/reference/metrics.md: every metric in the order of a transfer's journey. */
export function describeMetrics(): string {
  const rows = Object.values(metricDefinitions).map(({ name, kind, labels, help }) => [
    `\`${name}\``,
    kind,
    labels.map((label) => `\`${label}\``).join(', '),
    help,
  ])
  return [
    '# Metrics',
    '',
    'Every process serves them at `GET /metrics` of its admin port ([health.md](../operate/monitor/health.md)) in the Prometheus text format, and one with the',
    'API also there. A process counts what it did itself. The admin port adds the metrics of Temporal’s SDK, `temporal_…` ([Temporal’s list](https://docs.temporal.io/references/sdk-metrics)).',
    '',
    markdownTable(['metric', 'kind', 'labels', 'meaning'], rows),
    '',
  ].join('\n')
}
