import type { Dashboard } from './grafana.ts'
import { queries } from './query.ts'

const { max, min } = queries('stream')

export const streams: Dashboard = {
  name: 'streams',
  title: 'streams',
  description: 'Numbered sources: progress, gaps and alarms (docs/operate/streams.md).',
  filters: [['stream', 'portage_stream_open']],
  rows: [
    {
      title: 'Missed messages',
      panels: [
        {
          ...{ title: 'Alarms', unit: 'none', most: 1 },
          description: '1 while the stream raises the alarm: docs/operate/streams.md.',
          series: [[`${max('stream, kind', 'portage_stream_alarm')} == 1`, '{{ stream }}: {{ kind }}']],
        },
        {
          ...{ title: 'Numbers in gaps', unit: 'short' },
          description: 'Numbers that exist, but whose transfers were not started or must be started again.',
          series: [[max('stream, state', 'portage_stream_gaps'), '{{ stream }}: {{ state }}']],
        },
        {
          ...{ title: 'Age of the oldest gap', unit: 's' },
          description: 'An alert fires after an hour.',
          series: [[max('stream', 'portage_stream_oldest_gap_seconds'), '{{ stream }}']],
        },
        {
          ...{ title: 'Watermark: number', unit: 'none' },
          description: 'Every number up to this number is resolved (completed_nonce_height).',
          series: [[max('stream', 'portage_stream_completed_nonce_height'), '{{ stream }}']],
        },
        {
          ...{ title: 'Watermark: block', unit: 'none' },
          description: 'No block up to this height can contain an unresolved number (completed_block_height).',
          series: [[max('stream', 'portage_stream_completed_block_height'), '{{ stream }}']],
        },
        {
          ...{ title: 'Open, parked', unit: 'short' },
          description:
            'Numbers whose transfers were started but are not resolved, and how many of these transfers are parked. A full stream starts no more transfers.',
          series: [
            [max('stream', 'portage_stream_open'), '{{ stream }}'],
            [max('stream', 'portage_stream_parked'), '{{ stream }}: parked'],
          ],
        },
      ],
    },
    {
      title: 'Progress',
      panels: [
        {
          ...{ title: 'Cursor', unit: 'none' },
          description: 'Height of the last final block that the stream has read.',
          series: [[max('stream', 'portage_stream_cursor_height'), '{{ stream }}']],
        },
        {
          ...{ title: 'Blocks behind the final head', unit: 'short' },
          description: 'As the most recent process sees it.',
          series: [[min('stream', 'portage_stream_lag_blocks'), '{{ stream }}']],
        },
        {
          ...{ title: 'Remaining backfills', unit: 'short' },
          description: 'Blocks that a backfill has yet to read.',
          series: [[max('stream', 'portage_stream_backfill_left_blocks'), '{{ stream }}']],
        },
        {
          ...{ title: 'Paused', unit: 'none', most: 1 },
          description: '1 while the stream is paused by an operator.',
          series: [[max('stream', 'portage_stream_paused'), '{{ stream }}']],
        },
        {
          ...{ title: 'Age of the checkpoint', unit: 's' },
          description: 'Time since any process last wrote the checkpoint.',
          series: [[min('stream', 'portage_stream_checkpoint_age_seconds'), '{{ stream }}']],
        },
      ],
    },
  ],
}
