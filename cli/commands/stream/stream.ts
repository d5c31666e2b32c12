import { listStreams, readStream, type StreamRow, toReport } from '../../../intake/streams/reports.ts'
import { viewStream } from '../../../domain/stream/reducer.ts'
import type { CommandSpec } from '../../command.ts'
import { timeText } from '../../output/output.ts'
import { listText, stateText } from '../../output/stream-text.ts'
import { finalizedHeights, streamArgument } from '../../arguments/streams.ts'
import { findStream } from '../../../operations/orders/subjects.ts'
import { audit } from './stream-audit.ts'
import { backfillWait } from './stream-backfill.ts'
import { checkpoint } from './stream-checkpoint.ts'
import { orderCommands } from '../../orders.ts'

export const streamCommand: CommandSpec = {
  description: 'Streams: the numbered sources of transfers, and the proof that no number is missed.',
  commands: {
    list: {
      description: 'One line per stream: cursor, blocks behind the finalized head, open and parked transfers, gaps, watermark, alarms.',
      examples: ['portage stream list', 'portage stream list --json'],
      run: ({ withTemporal }) =>
        withTemporal(async (client, config) => {
          const rows = await listStreams(client, () => undefined)
          const names = rows.map(({ stream }) => stream)
          const heights = await finalizedHeights(config, names)
          const streams = rows.map((row): StreamRow => ('problem' in row ? row : toReport(row, heights)))
          const asOf = new Date().toISOString()
          return { json: { asOf, streams }, text: [...(streams.length > 0 ? [`read ${timeText(asOf)}Z`] : []), listText(streams)] }
        }),
    },
    show: {
      description:
        'The whole state of a stream: gaps and their age, parked numbers, exceptions, the number that holds the watermark, the backfill.',
      options: streamArgument,
      examples: ['portage stream show native-bridge:ethereum:bsc', 'portage stream show native-bridge:ethereum:bsc --json'],
      run: ({ withTemporal }, name: string) =>
        withTemporal(async (client, config) => {
          const stream = await findStream(client, name)
          const state = await readStream(client, stream)
          const view = toReport(viewStream(state), await finalizedHeights(config, [stream]))
          return { json: { ...state, asOf: view.asOf, view }, text: stateText(state, view, Date.now()) }
        }),
    },
    audit,
    ...orderCommands('stream', { 'stream backfill': backfillWait }),
    checkpoint,
  },
}
