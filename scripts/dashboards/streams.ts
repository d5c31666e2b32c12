import type { Dashboard } from './grafana.ts'
import { queries } from './query.ts'

const { max, min } = queries('stream')

/** Numbered sources: is anything missed? */
export const streams: Dashboard = {
  name: 'streams',
  title: 'streams',
  description: 'Numbered sources: how far they are read, and whether anything is missed (docs/operate/streams.md).',
  filters: [['stream', 'portage_stream_open']],
  rows: [
    {
      title: 'Is anything missed?',
      panels: [
        {
          ...{ title: 'Alarms', unit: 'none', most: 1 },
          description: '1 while a stream raises it; docs/operate/streams.md says what to do.',
          series: [[`${max('stream, kind', 'portage_stream_alarm')} == 1`, '{{ stream }}: {{ kind }}']],
        },
        {
          ...{ title: 'Numbers in gaps', unit: 'short' },
          description: 'Known to exist, and not seen or to be started again.',
          series: [[max('stream, state', 'portage_stream_gaps'), '{{ stream }}: {{ state }}']],
        },
        {
          ...{ title: 'Age of the oldest gap', unit: 's' },
          description: 'From an hour on an alert.',
          series: [[max('stream', 'portage_stream_oldest_gap_seconds'), '{{ stream }}']],
        },
        {
          ...{ title: 'Watermark: number', unit: 'none' },
          description: 'Every number up to it is resolved (completed_nonce_height).',
          series: [[max('stream', 'portage_stream_completed_nonce_height'), '{{ stream }}']],
        },
        {
          ...{ title: 'Watermark: block', unit: 'none' },
          description: 'No block up to it can hold an unresolved number (completed_block_height).',
          series: [[max('stream', 'portage_stream_completed_block_height'), '{{ stream }}']],
        },
        {
          ...{ title: 'Open, parked', unit: 'short' },
          description: 'Started and not resolved, of these parked. A full stream starts nothing more.',
          series: [
            [max('stream', 'portage_stream_open'), '{{ stream }}'],
            [max('stream', 'portage_stream_parked'), '{{ stream }}: parked'],
          ],
        },
      ],
    },
    {
      title: 'How far they are read',
      panels: [
        {
          ...{ title: 'Cursor', unit: 'none' },
          description: 'Last final block that was read.',
          series: [[max('stream', 'portage_stream_cursor_height'), '{{ stream }}']],
        },
        {
          ...{ title: 'Blocks behind the final head', unit: 'short' },
          description: 'As the freshest process sees it.',
          series: [[min('stream', 'portage_stream_lag_blocks'), '{{ stream }}']],
        },
        {
          ...{ title: 'Left of backfills', unit: 'short' },
          description: 'Blocks that a backfill has yet to read.',
          series: [[max('stream', 'portage_stream_backfill_left_blocks'), '{{ stream }}']],
        },
        {
          ...{ title: 'Paused', unit: 'none', most: 1 },
          description: '1 while an operator has paused it.',
          series: [[max('stream', 'portage_stream_paused'), '{{ stream }}']],
        },
        {
          ...{ title: 'Age of the checkpoint', unit: 's' },
          description: 'Since it was last written, by the process that wrote last.',
          series: [[min('stream', 'portage_stream_checkpoint_age_seconds'), '{{ stream }}']],
        },
      ],
    },
  ],
}
