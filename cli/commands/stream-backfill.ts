import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import type { Command } from 'commander'
import { orderOfStream, readStream } from '../../api/streams.ts'
import { RelayerError } from '../../domain/errors.ts'
import type { StreamState } from '../../domain/stream/stream.ts'
import { viewStream } from '../../domain/stream/reducer.ts'
import type { Cli, CliContext, GlobalOptions } from '../context.ts'
import { exitCodes, readConfig } from '../context.ts'
import { facts, print } from '../output.ts'
import { osUser } from '../settings.ts'
import { height, plainReport, streamArgument, watermark } from '../streams.ts'
import { withClient } from '../temporal.ts'

interface BackfillOptions {
  readonly from: number
  readonly to: number
  readonly by?: string
  readonly wait?: true
}

const betweenLooksMs = 1_000

/** `portage stream backfill` */
export function backfillCommand({ context, action }: Cli): Command {
  return streamArgument('backfill')
    .description(
      'Read blocks of the source again, beside the live scan: what is not resolved is started. What is delivered costs a batched read.',
    )
    .requiredOption('--from <block>', 'first block', height)
    .requiredOption('--to <block>', 'last block; what lies above the cursor is left to the live scan', height)
    .option('--by <name>', 'who orders it (default: the user of the operating system)')
    .option('--wait', 'until these blocks are read, with the progress on stderr; Ctrl-C ends the waiting only')
    .addHelpText('after', '\nExample:\n  portage stream backfill native-bridge:ethereum:bsc --from 18000000 --to 18050000 --wait')
    .action(
      action(async (globals: GlobalOptions, stream: string, { from, to, by = osUser(), wait }: BackfillOptions) => {
        if (from > to) throw new RelayerError('INPUT_INVALID', { detail: `--to: ${to} is below --from` })
        const config = await readConfig(context, globals)
        const { last, view } = await withClient(config, async (client) => {
          const { view: ordered } = await orderOfStream(client, stream, { kind: 'backfill', from, to, by })
          // What lay above the cursor then is not read by this order.
          const last = Math.min(to, (ordered.nextHeight ?? from + 1) - 1)
          return { last, view: wait ? viewStream(await follow(context, client, stream, { from, to: last })) : ordered }
        })
        const left = `${view.backfill.left} blocks left of all that is ordered`
        print(
          context,
          globals,
          { done: true, view: plainReport(view) },
          facts({
            stream,
            [wait ? 'done' : 'ordered']: `blocks ${from}-${last}${last < to ? `; the live scan reads those above ${last}` : ''}`,
            backfill: left,
            ...watermark(view),
          }),
        )
        return exitCodes.ok
      }),
    )
}

/** Until none of the blocks is left to read. Throws what a read of the stream throws. */
async function follow(context: CliContext, client: Client, stream: string, range: { from: number; to: number }): Promise<StreamState> {
  for (let told: string | undefined; ; await sleep(betweenLooksMs)) {
    const state = await readStream(client, stream)
    const left = leftOf(state, range)
    if (left === 0) return state
    const total = range.to - range.from + 1
    const text = `${total - left} of ${total} blocks read${state.paused ? `; paused by ${state.paused.by}: ${state.paused.reason}` : ''}\n`
    if (text !== told) context.stderr.write(text)
    told = text
  }
}

/** Blocks of the range that a backfill has yet to read. */
function leftOf({ backfill: { left } }: StreamState, { from, to }: { from: number; to: number }): number {
  return left.reduce((sum, [low, high]) => sum + Math.max(0, Math.min(to, Number(high)) - Math.max(from, Number(low)) + 1), 0)
}
