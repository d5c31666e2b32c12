import { Command } from 'commander'
import type { ErrandStatus } from '../../temporal/errand.ts'
import type { Cli, GlobalOptions } from '../context.ts'
import { exitCodes, readConfig } from '../context.ts'
import type { ErrandRow } from '../errands.ts'
import { cancelErrand, listErrands } from '../errands.ts'
import { facts, print, table } from '../output.ts'
import { osUser } from '../settings.ts'
import { withClient } from '../temporal.ts'
import { count, laneArgument, withLane, type LaneOptions } from './lane-shared.ts'

/** What became of an operator's own transactions: `errands`, `cancel-errand`. */
export function errandListCommands(cli: Cli): Command[] {
  return [errands(cli), cancel(cli)]
}

function errands({ context, action }: Cli): Command {
  return laneArgument(new Command('errands'))
    .description("The operators' own transactions with a lane's key (send, sweep, top-up) that are under way.")
    .option('--closed <number>', 'as many of those that have ended, too', count, 0)
    .addHelpText('after', '\nExample:\n  portage lane errands 0x52908400098527886e0f7030069857d2e4169ee7 --chain ethereum --closed 10')
    .action(
      action(async (globals: GlobalOptions, name: string, { chain, closed }: LaneOptions & { closed: number }) =>
        withLane({ context }, globals, { name, chain }, async (lane, client) => {
          const rows = await listErrands(client, lane, closed)
          print(context, globals, { lane, errands: rows }, rows.length === 0 ? 'no errands' : table(headings, rows.map(cells)))
        }),
      ),
    )
}

interface CancelOptions {
  readonly reason: string
  readonly by?: string
  readonly wait?: true
}

function cancel({ context, action }: Cli): Command {
  return new Command('cancel-errand')
    .description('End an errand. A nonce in flight gets a no-op of the lane; if the transaction wins, the errand is done.')
    .argument('<id>', 'errand id; portage lane errands shows them')
    .requiredOption('--reason <text>', 'why; kept in the history')
    .option('--by <name>', 'who; kept in the history (default: the user of the operating system)')
    .option('--wait', 'until it has ended; exit code 1 if it was not cancelled')
    .addHelpText(
      'after',
      '\nExample:\n  portage lane cancel-errand errand:evm-1:0x5290…9ee7:1f2e3d4c5b6a7988 --reason "wrong amount" --wait',
    )
    .action(
      action(async (globals: GlobalOptions, errand: string, { reason, by = osUser(), wait }: CancelOptions) => {
        const config = await readConfig(context, globals)
        const ended = await withClient(config, async (client) => {
          await cancelErrand(client, errand, { by, reason })
          return wait && ((await client.workflow.getHandle(errand).result()) as ErrandStatus)
        })
        if (!ended) {
          print(
            context,
            globals,
            { errand, asked: 'cancel' },
            facts({ errand, asked: 'cancel; portage lane errands --closed 5 shows how it ended' }),
          )
          return exitCodes.ok
        }
        print(context, globals, { errand, ...ended }, facts({ errand, state: ended.state, detail: ended.detail }))
        return ended.state === 'cancelled' ? exitCodes.ok : exitCodes.failure
      }),
    )
}

const headings = ['errand', 'started', 'state', 'nonce', 'to', 'value (wei)', 'by', 'reason', 'detail']

function cells({ errand, execution, startedAt, status }: ErrandRow): string[] {
  const started = startedAt.slice(0, 19)
  if (!status) return [errand, started, execution === 'RUNNING' ? 'no answer' : execution.toLowerCase(), '-', '-', '-', '-', '-', '']
  const { state, nonce, intent, by = '-', reason = '-', detail } = status
  return [errand, started, state, nonce === undefined ? '-' : String(nonce), intent.to, intent.value, by, reason, detail]
}
