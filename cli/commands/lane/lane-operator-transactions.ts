import { coinOfLane } from '../../../config/coins.ts'
import { harmless } from '../../../domain/text/printable.ts'
import { lastPart, shortAddress } from '../../../domain/text/short-id.ts'
import {
  followOperatorTransaction,
  listOperatorTransactions,
  type OperatorTransactionRow,
} from '../../../temporal/client/lanes/operator-transactions.ts'
import type { Call, CommandSpec } from '../../command.ts'
import { laneArgument, type LaneOptions, withLane } from '../../arguments/lanes.ts'
import { parse } from '../../arguments/options.ts'
import type { Wait } from '../../orders.ts'
import { amountCell, type Cell, facts, list, timeText } from '../../output/output.ts'

export const transactions: CommandSpec = {
  description: "The operators' own transactions with a lane's key (send, sweep, top-up) that are under way.",
  options: (command) => laneArgument(command).option('--closed <number>', 'also this many that have ended', parse.closed, 0),
  examples: ['portage lane transactions 0x52908400098527886e0f7030069857d2e4169ee7 --chain ethereum --closed 10'],
  run: (call: Call<LaneOptions & { closed: number }>, name: string) =>
    withLane(call, name, async (lane, client, config) => {
      const rows = await listOperatorTransactions(client, lane, call.options.closed)
      const coin = coinOfLane(config, lane)
      const shown = rows.map((row) => cells(row, coin))
      return { json: { lane, transactions: rows }, text: list('no transactions', headings, shown) }
    }),
}

const payment = waitUntil('done', 'until it is final; without it, the id of its workflow is printed')

export const paymentWaits = {
  'lane send': payment,
  'lane sweep': payment,
  'lane top-up': payment,
  'lane cancel-transaction': waitUntil('cancelled', 'until it has ended; exit code 1 if it was not cancelled'),
} as const

/** The command ends with 1 unless the payment ends in the wanted state. */
function waitUntil(wanted: 'done' | 'cancelled', help: string): Wait {
  const until: Wait['until'] = async ({ context }, client, { json, text }) => {
    const { id } = json as { readonly id: string }
    const { asked: _, ...about } = text as Record<string, Cell>
    // stdout is for the result.
    const say = (line: string) => context.stderr.write(`${harmless(line)}\n`)
    if (wanted === 'done') say(`${id} goes on by itself; this command waits until it is final (Ctrl-C ends only the wait)`)
    const status = await followOperatorTransaction(client, id, say)
    const { state, detail, nonce, txHash: transaction } = status
    return { json: { id, ...status }, text: facts({ ...about, state, detail, nonce, transaction }), failed: state !== wanted }
  }
  return { help, until }
}

const headings = ['transaction', 'started', 'state', 'nonce', 'to', 'value', 'by', 'reason', 'detail']

function cells({ id, execution, startedAt, status }: OperatorTransactionRow, coin: string | undefined): Cell[] {
  const state = status?.state ?? (execution === 'RUNNING' ? 'no answer' : execution.toLowerCase())
  const { nonce, intent, by, reason, detail = '' } = status ?? {}
  const value = amountCell(status?.intent.value, coin)
  const to = intent && { full: intent.to, short: shortAddress(intent.to) }
  return [{ full: id, short: lastPart(id) }, timeText(startedAt), state, nonce, to, value, by, reason, detail]
}
