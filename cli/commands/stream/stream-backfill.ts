import { setTimeout as sleep } from 'node:timers/promises'
import { aboutStream } from '../../../operations/access/subjects.ts'
import { orderStream } from '../../../intake/streams/orders.ts'
import { readStream } from '../../../intake/streams/reports.ts'
import { harmless } from '../../../domain/text/printable.ts'
import { viewStream } from '../../../domain/stream/reducer.ts'
import type { StreamState } from '../../../domain/stream/stream.ts'
import type { TemporalClient } from '../../../temporal/client/connection/client.ts'
import type { Call, CommandSpec } from '../../command.ts'
import type { CliContext } from '../../context.ts'
import { type Reasoned, invalid, parse, withReason } from '../../arguments/options.ts'
import { facts } from '../../output/output.ts'
import { findStream, plainReport, streamArgument, watermark } from '../../arguments/streams.ts'

const betweenLooksMs = 1_000

export const backfill: CommandSpec = {
  description:
    'Read blocks of the source again, beside the live scan: what is not resolved is started. What is delivered costs a batched read.',
  options: (command) =>
    withReason(
      streamArgument(command)
        .requiredOption('--from <block>', 'first block', parse.number)
        .requiredOption('--to <block>', 'last block; what lies above the cursor is left to the live scan', parse.number),
    ).option('--wait', 'until these blocks are read, with the progress on stderr; Ctrl-C ends the waiting only'),
  examples: ['portage stream backfill native-bridge:ethereum:bsc --from 18000000 --to 18050000 --reason "a node was wrong" --wait'],
  run: async ({ context, options, withOrder }: Call<Reasoned & { from: number; to: number; wait?: true }>, name: string) => {
    const { from, to, wait } = options
    if (from > to) throw invalid(`--to: ${to} is below --from`)
    return withOrder(async (client, _, allow) => {
      const stream = await findStream(client, name)
      const { view: ordered } = await orderStream(client, stream, { kind: 'backfill', from, to, order: allow(aboutStream(stream)) })
      // What lay above the cursor then is not read by this order.
      const last = Math.min(to, (ordered.nextHeight ?? from + 1) - 1)
      const view = wait ? viewStream(await untilRead(context, client, stream, from, last)) : ordered
      const text = facts({
        stream,
        [wait ? 'done' : 'ordered']: `blocks ${from}-${last}${last < to ? `; the live scan reads those above ${last}` : ''}`,
        backfill: `${view.backfill.left} blocks left of all that is ordered`,
        ...watermark(view),
      })
      return { json: { done: true, view: plainReport(view) }, text }
    })
  },
}

/** Until none of the blocks is left to read. Throws what a read of the stream throws. */
async function untilRead(context: CliContext, client: TemporalClient, stream: string, from: number, to: number): Promise<StreamState> {
  for (let told: string | undefined; ; await sleep(betweenLooksMs)) {
    const state = await readStream(client, stream)
    const left = leftOf(state, from, to)
    if (left === 0) return state
    const total = to - from + 1
    const paused = state.paused ? `; paused by ${state.paused.by}: ${state.paused.reason}` : ''
    const text = `${harmless(`${total - left} of ${total} blocks read${paused}`)}\n`
    if (text !== told) context.stderr.write(text)
    told = text
  }
}

/** Blocks of the range that a backfill has yet to read. */
function leftOf({ backfill: { left } }: StreamState, from: number, to: number): number {
  return left.reduce((sum, [low, high]) => sum + Math.max(0, Math.min(to, Number(high)) - Math.max(from, Number(low)) + 1), 0)
}
