import { contentsPlace } from './contents.ts'
import { markdownTable } from './markdown.ts'
import { type MetricDefinition, metricDefinitions } from '../../observability/metrics.ts'

/** docs/reference/metrics.md: every metric, in the order of the steps of a transfer. */
export function describeMetrics(): string {
  return [
    '# Metrics',
    [
      'Every process serves these metrics at `GET /metrics` of its admin port ([health](../operate/monitor/health.md)) in the Prometheus text format.',
      'A process with the API also serves them at the port of the API. A process counts its own work. The admin port adds the metrics of Temporal’s SDK,',
      '`temporal_…` ([Temporal’s list](https://docs.temporal.io/references/sdk-metrics)).',
    ].join('\n'),
    contentsPlace,
    `## Portage’s metrics\n\n${markdownTable(['metric', 'kind', 'labels', 'meaning'], Object.values(metricDefinitions).map(rowOf))}`,
    '## Next steps\n\n- [Alerts](../operate/monitor/alerts.md) and [objectives](../operate/monitor/objectives.md): what to watch.\n- [Dashboards](../operate/monitor/dashboards.md).',
  ].join('\n\n')
}

function rowOf({ name, kind, labels, help }: MetricDefinition): string[] {
  return [`\`${name}\``, kind, labels.map((label) => `\`${label}\``).join(', '), help]
}
