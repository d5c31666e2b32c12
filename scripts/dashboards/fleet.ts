import type { Dashboard } from './grafana.ts'
import { queries } from './query.ts'

const { max, min, sum, rate, countRate, within, quantile } = queries()

/** What to look at first. */
export const fleet: Dashboard = {
  name: 'fleet',
  title: 'fleet',
  description: 'Whether the fleet is well, and what it delivers. The other dashboards say why not.',
  filters: [],
  rows: [
    {
      title: 'Is it well?',
      panels: [
        {
          ...{ title: 'Alerts', unit: 'none' },
          description: 'Of deploy/prometheus/alerts.yml, those that fire; docs/operate/monitor/alerts.md says what to do.',
          series: [
            ['count by (alertname, severity) (ALERTS{alertstate="firing", alertname=~"Portage.+"})', '{{ alertname }} ({{ severity }})'],
          ],
        },
        {
          ...{ title: 'Processes that are ready', unit: 'none' },
          description: 'By role. One that waits for Temporal or for its chains is alive and not ready.',
          series: [[sum('role', 'portage_process_ready'), '{{ role }}']],
        },
        {
          ...{ title: 'Parked, halted', unit: 'none' },
          description: 'Transfers that wait for an operator, and halts in force.',
          series: [
            [max('', 'portage_transfers', 'state="parked"'), 'parked'],
            [max('', 'portage_halts'), 'halts'],
          ],
        },
      ],
    },
    {
      title: 'What is promised (docs/operate/monitor/objectives.md)',
      panels: [
        {
          ...{ title: 'Delivered in time', unit: 'percentunit', most: 1 },
          description:
            'Share of the transfers that were delivered, and final, within 5 minutes of when they were seen. Promised: 99 % of a month.',
          series: [[within('300', 'chain, bridge', 'portage_transfer_seconds'), '{{ bridge }} to {{ chain }}']],
        },
        {
          ...{ title: 'Streams that are fresh', unit: 'percentunit', most: 1 },
          description:
            'Share of the last hour in which a stream had read every block that was final a minute before. Promised: 99.9 % of a month.',
          series: [['min by (stream) (avg_over_time(portage:stream_fresh[1h]))', '{{ stream }}']],
        },
        {
          ...{ title: 'Spent of what a key may spend', unit: 'percentunit', most: 1 },
          description: 'By hour and day. From 80 % on an alert; at 100 % the signer refuses.',
          series: [['max by (lane, window) (portage:lane_spent:ratio)', '{{ lane }} ({{ window }})']],
        },
      ],
    },
    {
      title: 'What it does',
      panels: [
        {
          ...{ title: 'Delivered per second', unit: 'cps' },
          description: 'Transfers that we delivered and that are final.',
          series: [[countRate('chain, bridge', 'portage_transfer_seconds'), '{{ bridge }} to {{ chain }}']],
        },
        {
          ...{ title: 'Seen to delivered, 95 %', unit: 's' },
          description: 'So long at most took 95 of 100, the finality of the target included.',
          series: [[quantile(0.95, 'chain, bridge', 'portage_transfer_seconds'), '{{ bridge }} to {{ chain }}']],
        },
        {
          ...{ title: 'API: requests by status', unit: 'reqps' },
          description: 'Of the REST API. 401 and 403: docs/operate/access.md. 503: Temporal, a node or a guardian API is away.',
          series: [[rate('status', 'portage_api_requests_total'), '{{ status }}']],
        },
        {
          ...{ title: 'API: 95 % answered within', unit: 's' },
          description: 'From the first byte of a request to the last of its answer.',
          series: [[quantile(0.95, 'route', 'portage_api_request_seconds'), '{{ route }}']],
        },
        {
          ...{ title: 'CPU', unit: 'short' },
          description: 'Cores that the processes of each role use together.',
          series: [[rate('role', 'portage_process_cpu_seconds_total'), '{{ role }}']],
        },
        {
          ...{ title: 'Memory of the largest process', unit: 'bytes' },
          description: 'Resident, by role.',
          series: [[max('role', 'portage_process_resident_bytes'), '{{ role }}']],
        },
        {
          ...{ title: 'Version of the settings', unit: 'none' },
          description:
            'Least and greatest that a process uses. They are apart for seconds after a change; for longer, a process does not hear of changes.',
          series: [
            [min('', 'portage_settings_version'), 'least'],
            [max('', 'portage_settings_version'), 'greatest'],
          ],
        },
      ],
    },
    {
      title: 'Notifications (docs/operate/notifications.md)',
      panels: [
        {
          ...{ title: 'Taken per second', unit: 'cps' },
          description: 'By receiver and type.',
          series: [[rate('receiver, type', 'portage_notifications_sent_total'), '{{ receiver }} {{ type }}']],
        },
        {
          ...{ title: 'Tries that failed, per second', unit: 'cps' },
          description: 'refused: it answers and does not take it. failed: it does not answer, or asks to wait. gone: it wants no more.',
          series: [[rate('receiver, kind', 'portage_notifications_failed_total'), '{{ receiver }} {{ kind }}']],
        },
        {
          ...{ title: 'Waiting to be told', unit: 'short' },
          description: 'What was not taken; of a receiver that is told nothing also what only Temporal has.',
          series: [[max('receiver', 'portage_notifications_waiting'), '{{ receiver }}']],
        },
        {
          ...{ title: 'Oldest that was not taken', unit: 's' },
          description: 'Above a quarter of an hour an alert. A receiver that is disabled is told nothing.',
          series: [
            [max('receiver', 'portage_notification_oldest_unsent_seconds'), '{{ receiver }}'],
            [max('receiver, why', 'portage_notification_receiver_disabled'), '{{ receiver }} disabled ({{ why }})'],
          ],
        },
      ],
    },
  ],
}
