import { markdownTable } from './markdown.ts'
import { metricDefinitions } from '../../observability/metrics.ts'

/** docs/metrics.md: every metric in the order of a transfer's journey. */
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
    'Served by the API at `GET /metrics` in the Prometheus text format. A process counts what it did itself.',
    '',
    markdownTable(['metric', 'kind', 'labels', 'meaning'], rows),
    '',
  ].join('\n')
}
