import { Command } from 'commander'
import type { OperatorTransactionStatus } from '../../temporal/contracts/operator-transaction.ts'
import type { Cli, GlobalOptions } from '../context.ts'
import { exitCodes, readConfig } from '../context.ts'
import type { OperatorTransactionRow } from '../operator-transactions.ts'
import { cancelOperatorTransaction, listOperatorTransactions } from '../operator-transactions.ts'
import { facts, print, table } from '../output.ts'
import { osUser } from '../settings.ts'
import { withClient } from '../temporal.ts'
import { count, laneArgument, withLane, type LaneOptions } from './lane-shared.ts'

/** What became of an operator's own transactions: `operator transactions`, `cancel-transaction`. */
export function operatorTransactionListCommands(cli: Cli): Command[] {
  return [operatorTransactions(cli), cancel(cli)]
}

function operatorTransactions({ context, action }: Cli): Command {
  return laneArgument(new Command('transactions'))
    .description("The operators' own transactions with a lane's key (send, sweep, top-up) that are under way.")
    .option('--closed <number>', 'as many of those that have ended, too', count, 0)
    .addHelpText('after', '\nExample:\n  portage lane transactions 0x52908400098527886e0f7030069857d2e4169ee7 --chain ethereum --closed 10')
    .action(
      action(async (globals: GlobalOptions, name: string, { chain, closed }: LaneOptions & { closed: number }) =>
        withLane({ context }, globals, { name, chain }, async (lane, client) => {
          const rows = await listOperatorTransactions(client, lane, closed)
          print(
            context,
            globals,
            { lane, operatorTransactions: rows },
            rows.length === 0 ? 'no operator transactions' : table(headings, rows.map(cells)),
          )
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
  return new Command('cancel-transaction')
    .description(
      'End an operator transaction. A nonce in flight gets a no-op of the lane; if the transaction wins, the operator transaction is done.',
    )
    .argument('<id>', 'operator transaction id; portage lane transactions shows them')
    .requiredOption('--reason <text>', 'why; kept in the history')
    .option('--by <name>', 'who; kept in the history (default: the user of the operating system)')
    .option('--wait', 'until it has ended; exit code 1 if it was not cancelled')
    .addHelpText(
      'after',
      '\nExample:\n  portage lane cancel-transaction operator-transaction:evm-1:0x5290…9ee7:1f2e3d4c5b6a7988 --reason "wrong amount" --wait',
    )
    .action(
      action(async (globals: GlobalOptions, operatorTransaction: string, { reason, by = osUser(), wait }: CancelOptions) => {
        const config = await readConfig(context, globals)
        const ended = await withClient(config, async (client) => {
          await cancelOperatorTransaction(client, operatorTransaction, { by, reason })
          return wait && ((await client.workflow.getHandle(operatorTransaction).result()) as OperatorTransactionStatus)
        })
        if (!ended) {
          print(
            context,
            globals,
            { operatorTransaction, asked: 'cancel' },
            facts({ operatorTransaction, asked: 'cancel; portage lane transactions --closed 5 shows how it ended' }),
          )
          return exitCodes.ok
        }
        print(context, globals, { operatorTransaction, ...ended }, facts({ operatorTransaction, state: ended.state, detail: ended.detail }))
        return ended.state === 'cancelled' ? exitCodes.ok : exitCodes.failure
      }),
    )
}

const headings = ['transaction', 'started', 'state', 'nonce', 'to', 'value (wei)', 'by', 'reason', 'detail']

function cells({ operatorTransaction, execution, startedAt, status }: OperatorTransactionRow): string[] {
  const started = startedAt.slice(0, 19)
  if (!status)
    return [operatorTransaction, started, execution === 'RUNNING' ? 'no answer' : execution.toLowerCase(), '-', '-', '-', '-', '-', '']
  const { state, nonce, intent, by = '-', reason = '-', detail } = status
  return [operatorTransaction, started, state, nonce === undefined ? '-' : String(nonce), intent.to, intent.value, by, reason, detail]
}
