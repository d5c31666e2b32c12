import { listStreams, readStream, type StreamReport, toReport } from '../../../intake/streams/reports.ts'
import { viewStream } from '../../../domain/stream/reducer.ts'
import type { Call, CommandSpec } from '../../command.ts'
import { facts, table, type Text, timeText } from '../../output/output.ts'
import { listText, stateText } from '../../output/stream-text.ts'
import { finalizedHeights, streamArgument } from '../../arguments/subjects.ts'
import { findStream } from '../../../operations/orders/subjects.ts'
import { audit } from './stream-audit.ts'
import { giveOrder, orderCommand, orderCommands, type OrderOptions, type Wait } from '../../orders.ts'
import type { StreamState } from '../../../domain/stream/stream.ts'
import { harmless } from '../../../domain/text/printable.ts'
import { checkpointStoreOf, lastBackfilled, watermark } from '../../../operations/orders/stream.ts'
import { pause } from '../../../runtime/wait.ts'
import type { TemporalClient } from '../../../temporal/client/connection/client.ts'
import type { CliContext } from '../../context.ts'
import { streamNames } from '../../../bridges/configured-emitters.ts'
import { checkpointPlaceOf } from '../../../config/data-folder.ts'
import type { Config } from '../../../config/schema/schema.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { checkpointOf, type StreamCheckpoint } from '../../../domain/stream/checkpoint.ts'

const pollMs = 1_000

const backfillWait: Wait = {
  help: 'wait until these blocks are read, with the progress on stderr; Ctrl-C ends only the wait',
  async until({ context, options }, client, { json }) {
    const [from, to] = [Number(options['from']), Number(options['to'])]
    const { view: ordered } = json as { readonly view: StreamReport }
    const last = lastBackfilled(ordered, from, to)
    const view = viewStream(await untilRead(context, client, ordered.stream, from, last))
    const text = facts({
      stream: view.stream,
      done: `blocks ${from}-${last}${last < to ? `; the live scan reads those above ${last}` : ''}`,
      backfill: `${view.backfill.left} blocks left in all ordered backfills`,
      ...watermark(view),
    })
    return { json: { done: true, view: toReport(view, () => undefined) }, text }
  },
}

export const streamCommand: CommandSpec = {
  description: 'Streams: the numbered sources of transfers, and the proof that no number is missed.',
  commands: {
    list: {
      description: 'One line per stream: cursor, blocks behind the finalized head, open and parked transfers, gaps, watermark, alarms.',
      examples: ['portage stream list', 'portage stream list --json'],
      run: ({ withTemporal }) =>
        withTemporal(async (client, config) => {
          // With `auditMinutes`, a forged time becomes a problem of its stream, and fails no call of `toReport` below.
          const { auditMinutes } = config.streams
          const rows = await listStreams(client, () => undefined, auditMinutes)
          const names = rows.map(({ stream }) => stream)
          const heights = await finalizedHeights(config, names)
          const streams = rows.map((row) => ('problem' in row ? row : toReport(row, heights, auditMinutes)))
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
          const view = toReport(viewStream(state), await finalizedHeights(config, [stream]), config.streams.auditMinutes)
          return { json: { ...state, asOf: view.asOf, view }, text: stateText(state, view, Date.now()) }
        }),
    },
    audit,
    ...orderCommands('stream', { 'stream backfill': backfillWait }),
    checkpoint: {
      description:
        'Checkpoints of a stream, which are kept outside Temporal (streams.checkpoints). After a wipe of Temporal, a stream continues from its checkpoint.',
      commands: {
        show: {
          description: 'The stored checkpoint, and the checkpoint that would be written now. The exit code is 1 if neither exists.',
          options: streamArgument,
          examples: ['portage stream checkpoint show native-bridge:ethereum:bsc --json'],
          run: async ({ config, withTemporal }, stream: string) => {
            const loaded = await config()
            const kept = checkpointPlaceOf(loaded) && (await checkpointStoreOf(loaded, streamNames(loaded)).read(stream))
            // If there is a checkpoint, the stream need not answer or exist, because Temporal may have been wiped.
            const now = await withTemporal((client) => readStream(client, stream)).then(checkpointOf, (error: unknown) => {
              if (kept && error instanceof RelayerError && (error.code === 'STREAM_NOT_FOUND' || error.retriable)) return undefined
              throw error
            })
            return { json: { stream, ...(kept && { kept }), ...(now && { now }) }, text: checkpointsText(loaded, kept, now) }
          },
        },
        write: {
          ...orderCommand('stream checkpoint write'),
          run: async (call: Call<OrderOptions>, name: string) => {
            const { json } = await giveOrder(call, 'stream checkpoint write', name, {})
            const { written } = json as { readonly written: StreamCheckpoint }
            return { json, text: checkpointsText(await call.config(), written, undefined) }
          },
        },
      },
    },
  },
}

async function untilRead(context: CliContext, client: TemporalClient, stream: string, from: number, to: number): Promise<StreamState> {
  for (let said: string | undefined; ; await pause(pollMs)) {
    const state = await readStream(client, stream)
    const left = leftOf(state, from, to)
    if (left === 0) return state
    const total = to - from + 1
    const paused = state.paused ? `; paused by ${state.paused.by}: ${state.paused.reason}` : ''
    const text = `${harmless(`${total - left} of ${total} blocks read${paused}`)}\n`
    if (text !== said) context.stderr.write(text)
    said = text
  }
}

function leftOf({ backfill: { left } }: StreamState, from: number, to: number): number {
  return left.reduce((sum, [low, high]) => sum + Math.max(0, Math.min(to, Number(high)) - Math.max(from, Number(low)) + 1), 0)
}

function checkpointsText(config: Config, kept: StreamCheckpoint | undefined, now: StreamCheckpoint | undefined): Text {
  const none = checkpointPlaceOf(config) ? 'none yet' : 'nowhere: streams.checkpoints says none'
  const rows = [
    { '': 'kept', ...checkpointCells(kept, none) },
    { '': 'now', ...checkpointCells(now, 'the stream does not answer') },
  ]
  return table(now || !kept ? rows : rows.slice(0, 1))
}

function checkpointCells(checkpoint: StreamCheckpoint | undefined, none: string) {
  const { completedNumber = 'none yet', completedHeight = 'none yet', cursor, exceptions } = checkpoint ?? {}
  return {
    completed_nonce_height: checkpoint ? completedNumber : none,
    completed_block_height: checkpoint && completedHeight,
    exceptions: exceptions?.length,
    cursor: cursor && `block ${cursor.height}, ${cursor.hash}`,
  }
}
