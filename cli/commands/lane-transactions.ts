import {
  cancelOperatorTransaction,
  listOperatorTransactions,
  operatorTransactionResult,
  type OperatorTransactionRow,
} from '../../temporal/client/operator-transactions.ts'
import type { Call, Commands } from '../command.ts'
import { laneArgument, type LaneOptions, withLane } from '../lanes.ts'
import { type Author, parse, withAuthor } from '../options.ts'
import { type Cell, facts, list, timeText } from '../output.ts'

/** What became of the operators' own transactions. */
export const transactionCommands: Commands = {
  transactions: {
    description: "The operators' own transactions with a lane's key (send, sweep, top-up) that are under way.",
    options: (command) => laneArgument(command).option('--closed <number>', 'as many of those that have ended, too', parse.closed, 0),
    examples: ['portage lane transactions 0x52908400098527886e0f7030069857d2e4169ee7 --chain ethereum --closed 10'],
    run: (call: Call<LaneOptions & { closed: number }>, name: string) =>
      withLane(call, name, async (lane, client) => {
        const rows = await listOperatorTransactions(client, lane, call.options.closed)
        return { json: { lane, transactions: rows }, text: list('no transactions', headings, rows.map(cells)) }
      }),
  },
  'cancel-transaction': {
    description:
      "End an operator's own transaction. A nonce in flight gets a no-op of the lane; if the call is mined first, the transaction is done.",
    options: (command) =>
      withAuthor(command.argument('<id>', 'its id; portage lane transactions shows them')).option(
        '--wait',
        'until it has ended; exit code 1 if it was not cancelled',
      ),
    examples: ['portage lane cancel-transaction operator-transaction:evm-1:0x5290…9ee7:1f2e3d4c5b6a7988 --reason "wrong amount" --wait'],
    run: ({ withTemporal, options }: Call<Author & { wait?: true }>, id: string) =>
      withTemporal(async (client) => {
        const { by, reason, wait } = options
        await cancelOperatorTransaction(client, id, { by, reason })
        const asked = 'cancel; portage lane transactions --closed 5 shows how it ended'
        if (!wait) return { json: { id, asked: 'cancel' }, text: facts({ id, asked }) }
        const ended = await operatorTransactionResult(client, id)
        const { state, detail } = ended
        return { json: { id, ...ended }, text: facts({ id, state, detail }), failed: state !== 'cancelled' }
      }),
  },
}

const headings = ['transaction', 'started', 'state', 'nonce', 'to', 'value (wei)', 'by', 'reason', 'detail']

function cells({ id, execution, startedAt, status }: OperatorTransactionRow): Cell[] {
  const state = status?.state ?? (execution === 'RUNNING' ? 'no answer' : execution.toLowerCase())
  const { nonce, intent, by, reason, detail = '' } = status ?? {}
  return [id, timeText(startedAt), state, nonce, intent?.to, intent?.value, by, reason, detail]
}
