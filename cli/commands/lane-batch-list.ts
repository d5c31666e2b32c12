import { Command } from 'commander'
import type { BatchRow } from '../batches.ts'
import { listBatches } from '../batches.ts'
import type { Cli, GlobalOptions } from '../context.ts'
import { print, table } from '../output.ts'
import { count, laneArgument, withLane, type LaneOptions } from './lane-shared.ts'

/** Calls that several transfers share: `batches`. */
export function batchListCommand({ context, action }: Cli): Command {
  return laneArgument(new Command('batches'))
    .description(
      'Calls of the lane that deliver several transfers each: those that are under way. With --json, with the transfers in them.',
    )
    .option('--closed <number>', 'as many of those that have ended, too', count, 0)
    .addHelpText('after', '\nExample:\n  portage lane batches 0x52908400098527886e0f7030069857d2e4169ee7 --chain ethereum --closed 10')
    .action(
      action(async (globals: GlobalOptions, name: string, { chain, closed }: LaneOptions & { closed: number }) =>
        withLane({ context }, globals, { name, chain }, async (lane, client) => {
          const rows = await listBatches(client, lane, closed)
          print(context, globals, { lane, batches: rows }, rows.length === 0 ? 'no batches' : table(headings, rows.map(cells)))
        }),
      ),
    )
}

const headings = ['batch', 'started', 'state', 'transfers', 'nonce', 'detail']

function cells({ batch, startedAt, state, members, nonce, detail = '' }: BatchRow): string[] {
  return [batch, startedAt.slice(0, 19), state, String(members), nonce === undefined ? '-' : String(nonce), detail]
}
