import type { Dashboard } from './grafana.ts'
import { queries } from './query.ts'

const { max, min, sum, rate, countRate, within, quantile } = queries()

export const fleet: Dashboard = {
  name: 'fleet',
  title: 'fleet',
  description: 'The health of the fleet, and its deliveries. The other dashboards show causes.',
  filters: [],
  rows: [
    {
      title: 'Health',
      panels: [
        {
          ...{ title: 'Alerts', unit: 'none' },
          description: 'Firing alerts of deploy/prometheus/alerts.yml. docs/runbooks/README.md lists their runbooks.',
          series: [
            ['count by (alertname, severity) (ALERTS{alertstate="firing", alertname=~"Portage.+"})', '{{ alertname }} ({{ severity }})'],
          ],
        },
        {
          ...{ title: 'Processes that are ready', unit: 'none' },
          description: 'By role. A process that waits for Temporal or its chains is alive but not ready.',
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
      title: 'Objectives (docs/operate/monitor/objectives.md)',
      panels: [
        {
          ...{ title: 'Delivered in time', unit: 'percentunit', most: 1 },
          description: 'Share of transfers whose delivery was final within 5 minutes of their first sight. Objective: 99 % per month.',
          series: [[within('300', 'chain, bridge', 'portage_transfer_seconds'), '{{ bridge }} to {{ chain }}']],
        },
        {
          ...{ title: 'Streams that are fresh', unit: 'percentunit', most: 1 },
          description:
            'Share of the last hour in which the stream had read every block that had been final for a minute. Objective: 99.9 % per month.',
          series: [['min by (stream) (avg_over_time(portage:stream_fresh[1h]))', '{{ stream }}']],
        },
        {
          ...{ title: 'Share of the spending limit', unit: 'percentunit', most: 1 },
          description: 'Per hour and per day. An alert fires at 80 %. The signer refuses at 100 %.',
          series: [['max by (lane, window) (portage:lane_spent:ratio)', '{{ lane }} ({{ window }})']],
        },
      ],
    },
    {
      title: 'Work',
      panels: [
        {
          ...{ title: 'Delivered per second', unit: 'cps' },
          description: 'Transfers that Portage delivered, counted when their delivery is final.',
          series: [[countRate('chain, bridge', 'portage_transfer_seconds'), '{{ bridge }} to {{ chain }}']],
        },
        {
          ...{ title: 'Seen to delivered, 95 %', unit: 's' },
          description: '95 of 100 transfers took at most this long, including the wait for finality on the target.',
          series: [[quantile(0.95, 'chain, bridge', 'portage_transfer_seconds'), '{{ bridge }} to {{ chain }}']],
        },
        {
          ...{ title: 'API: requests by status', unit: 'reqps' },
          description: 'The REST API. 401 and 403: docs/operate/access.md. 503: Temporal, a node or a guardian API does not answer.',
          series: [[rate('status', 'portage_api_requests_total'), '{{ status }}']],
        },
        {
          ...{ title: 'API: 95 % answered within', unit: 's' },
          description: 'From the first byte of the request to the last byte of the answer.',
          series: [[quantile(0.95, 'route', 'portage_api_request_seconds'), '{{ route }}']],
        },
        {
          ...{ title: 'CPU', unit: 'short' },
          description: 'Number of cores that all processes of a role use together.',
          series: [[rate('role', 'portage_process_cpu_seconds_total'), '{{ role }}']],
        },
        {
          ...{ title: 'Memory of the largest process', unit: 'bytes' },
          description: 'Resident memory, by role.',
          series: [[max('role', 'portage_process_resident_bytes'), '{{ role }}']],
        },
        {
          ...{ title: 'Version of the settings', unit: 'none' },
          description:
            'Lowest and highest version that a process uses. They differ for seconds after a change. If they differ for longer, a process does not get changes.',
          series: [
            [min('', 'portage_settings_version'), 'lowest'],
            [max('', 'portage_settings_version'), 'highest'],
          ],
        },
      ],
    },
    {
      title: 'Notifications (docs/operate/notifications.md)',
      panels: [
        {
          ...{ title: 'Sent per second', unit: 'cps' },
          description: 'By receiver and type.',
          series: [[rate('receiver, type', 'portage_notifications_sent_total'), '{{ receiver }} {{ type }}']],
        },
        {
          ...{ title: 'Tries that failed, per second', unit: 'cps' },
          description:
            'refused: the receiver answered with an error. failed: the receiver did not answer, or asked to wait. gone: the receiver answered 410.',
          series: [[rate('receiver, kind', 'portage_notifications_failed_total'), '{{ receiver }} {{ kind }}']],
        },
        {
          ...{ title: 'Waiting', unit: 'short' },
          description: 'Notifications that the receiver has not accepted, and all events while the receiver is disabled.',
          series: [[max('receiver', 'portage_notifications_waiting'), '{{ receiver }}']],
        },
        {
          ...{ title: 'Oldest waiting notification', unit: 's' },
          description: 'An alert fires after a quarter of an hour. A disabled receiver is not notified.',
          series: [
            [max('receiver', 'portage_notification_oldest_unsent_seconds'), '{{ receiver }}'],
            [max('receiver, why', 'portage_notification_receiver_disabled'), '{{ receiver }} disabled ({{ why }})'],
          ],
        },
      ],
    },
  ],
}
