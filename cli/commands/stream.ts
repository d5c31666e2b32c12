import { Command } from 'commander'
import { listStreams, readStream, toReport } from '../../api/streams.ts'
import type { StreamRow } from '../../api/streams.ts'
import { viewStream } from '../../domain/stream/reducer.ts'
import type { Cli } from '../context.ts'
import { exitCodes, readConfig } from '../context.ts'
import { print } from '../output.ts'
import { listText, stateText } from '../stream-text.ts'
import { streamArgument, withHeights } from '../streams.ts'
import { orderCommands } from './stream-orders.ts'
import { rereadCommand } from './stream-reread.ts'
import { auditStreamCommand } from './stream-audit.ts'
import { backfillCommand } from './stream-backfill.ts'
import { checkpointCommand } from './stream-checkpoint.ts'

/** `portage stream …` */
export function streamCommand(cli: Cli): Command {
  const command = new Command('stream')
    .description('Streams: the numbered sources of transfers, and the proof that none of their numbers is missed.')
    .addCommand(listCommand(cli))
    .addCommand(showCommand(cli))
    .addCommand(backfillCommand(cli))
    .addCommand(auditStreamCommand(cli))
    .addCommand(rereadCommand(cli))
  for (const one of orderCommands(cli)) command.addCommand(one)
  return command.addCommand(checkpointCommand(cli))
}

function listCommand({ context, action }: Cli): Command {
  return new Command('list')
    .description('One line per stream: cursor, blocks behind the finalized head, open and parked transfers, gaps, watermark, alarms.')
    .addHelpText('after', '\nExamples:\n  portage stream list\n  portage stream list --json')
    .action(
      action(async (globals) => {
        const config = await readConfig(context, globals)
        const streams = await withHeights(config, async (client) => {
          const rows = await listStreams(client, () => undefined)
          return {
            streams: rows.map(({ stream }) => stream),
            use: (heights) => rows.map((row): StreamRow => ('problem' in row ? row : toReport(row, heights))),
          }
        })
        print(context, globals, { streams }, listText(streams))
        return exitCodes.ok
      }),
    )
}

function showCommand({ context, action }: Cli): Command {
  return streamArgument('show')
    .description('All that a stream knows: gaps and their age, parked numbers, exceptions, what the watermark waits for, the backfill.')
    .addHelpText(
      'after',
      '\nExamples:\n  portage stream show native-bridge:ethereum:bsc\n  portage stream show native-bridge:ethereum:bsc --json',
    )
    .action(
      action(async (globals, stream: string) => {
        const config = await readConfig(context, globals)
        const { state, view } = await withHeights(config, async (client) => {
          const known = await readStream(client, stream)
          return { streams: [stream], use: (heights) => ({ state: known, view: toReport(viewStream(known), heights) }) }
        })
        print(context, globals, { ...state, view }, stateText(state, view, Date.now()))
        return exitCodes.ok
      }),
    )
}
