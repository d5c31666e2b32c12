import type { Command } from 'commander'
import { Interface } from 'ethers'
import type { ConfiguredChain } from '../../../chains/registry.ts'
import { chainOf, lanesOf } from '../../../config/chains.ts'
import { coinOfLane } from '../../../config/coins.ts'
import { aboutLane } from '../../../config/lane-names.ts'
import type { Config } from '../../../config/schema/schema.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { type Amount, exactAmountText } from '../../../domain/text/amounts.ts'
import type { LaneId } from '../../../domain/lane/lane-id.ts'
import { harmless } from '../../../domain/text/printable.ts'
import { lastPart, shortAddress } from '../../../domain/text/short-id.ts'
import type { Order } from '../../../domain/order.ts'
import { sweepIntent, topUpIntent } from '../../../lanes/account/payments.ts'
import type { TemporalClient } from '../../../temporal/client/connection/client.ts'
import {
  cancelOperatorTransaction,
  findOperatorTransaction,
  listOperatorTransactions,
  followOperatorTransaction,
  type OperatorTransactionRow,
  startOperatorTransaction,
} from '../../../temporal/client/lanes/operator-transactions.ts'
import type { OperatorTransactionInput } from '../../../temporal/contracts/operator-transaction.ts'
import { type Call, type Commands, type Outcome } from '../../command.ts'
import { withChain } from '../../arguments/chains.ts'
import type { Allow } from '../../access.ts'
import { findLane, laneArgument, type LaneOptions, withLane } from '../../arguments/lanes.ts'
import { type Reasoned, invalid, parse, withReason } from '../../arguments/options.ts'
import { amountCell, type Cell, facts, list, timeText } from '../../output/output.ts'

const erc20 = new Interface(['function transfer(address, uint256)', 'function balanceOf(address)'])
const lane = '0x52908400098527886e0f7030069857d2e4169ee7'

const none: Amount = { wei: '0' }

type PaymentOptions = LaneOptions & Reasoned & { readonly wait?: true }

/** The operators' own transactions, through the ledger of the lane, and what became of them. */
export const operatorTransactionCommands: Commands = {
  send: {
    description: "Send one transaction with the lane's key. The signing policy of the lane must allow it.",
    options: (command) =>
      withReason(
        withWait(laneArgument(command))
          .requiredOption('--to <address>', 'whom to call or pay', parse.address)
          .option('--value <amount>', 'coins to send: 0.05ETH, 1000000wei (default: none)', parse.amount)
          .option('--data <hex>', 'call data', parse.bytes, '0x'),
      ),
    examples: [`portage lane send ${lane} --to 0x8617e340b3d01fa5f11f306f4090fd50e238070d --value 0.01ETH --reason "a refund" --wait`],
    run: (call: Call<PaymentOptions & { to: string; value?: Amount; data: string }>, name: string) =>
      withLaneOrder(call, name, (id, client, config, allow) => {
        const { to, data, value = none } = call.options
        return pay({ call, client, config }, { lane: id, intent: { to, data, value: weiOf(config, value, id) } }, allow(id))
      }),
  },
  sweep: {
    description:
      "Send what the lane does not need to the chain's treasury (chains.<name>.treasury). What the transfer itself may cost stays, too.",
    options: (command) =>
      withReason(
        withWait(laneArgument(command))
          .option('--keep <amount>', "coins that stay: 0.5ETH; default: the lane's minimumBalance", parse.amount)
          .option('--token <address>', 'the whole balance of this ERC-20 token, instead of coins', parse.address),
        'sweep to the treasury',
      ),
    examples: [`portage lane sweep ${lane} --keep 0.5ETH --wait`],
    run: (call: Call<PaymentOptions & { keep?: Amount; token?: string }>, name: string) =>
      withLaneOrder(call, name, async (id, client, config, allow) => {
        const order = allow(id)
        const found = lanesOf(config).find((one) => one.id === id)
        if (!found) throw new RelayerError('LANE_NOT_FOUND', { detail: 'It is not in the config.', facts: { lane: id } })
        const { address, minimumBalance } = found.lane
        const { token } = call.options
        const keep = call.options.keep ? weiOf(config, call.options.keep, id) : minimumBalance
        const { treasury } = chainOf(config, found.chain)
        if (!treasury) throw invalid(`chains.${found.chain}.treasury is not in the config`)
        if (!token && keep === undefined) throw invalid('say what stays: --keep <amount>')
        const intent = await withChain(config, found.chain, async (chain) =>
          token
            ? {
                to: token,
                data: erc20.encodeFunctionData('transfer', [treasury.address, await tokenBalance(chain, address, token)]),
                value: '0',
              }
            : sweepIntent(chain, { lane: id, treasury: treasury.address, keep: keep ?? '0', coin: coinOfLane(config, id) }),
        )
        return pay({ call, client, config }, { lane: id, intent }, order)
      }),
  },
  'top-up': {
    description: 'Send coins to a lane from another lane of its chain.',
    options: (command) =>
      withReason(
        withWait(laneArgument(command))
          .requiredOption('--from <lane>', 'the lane that pays')
          .requiredOption('--amount <amount>', 'how much: 0.05ETH', parse.amount),
        'top-up',
      ),
    examples: [`portage lane top-up ${lane} --chain ethereum --from 0x8617e340b3d01fa5f11f306f4090fd50e238070d --amount 1ETH`],
    run: (call: Call<PaymentOptions & { from: string; amount: Amount }>, name: string) =>
      withLaneOrder(call, name, async (id, client, config, allow) => {
        const { chain, from, amount } = call.options
        const payer = await findLane(client, config, from, chain)
        const intent = topUpIntent(id, payer, weiOf(config, amount, payer))
        const { by, reason } = allow(payer)
        return pay({ call, client, config }, { lane: payer, intent }, { by, reason: reason === 'top-up' ? `top-up of ${id}` : reason })
      }),
  },
  transactions: {
    description: "The operators' own transactions with a lane's key (send, sweep, top-up) that are under way.",
    options: (command) => laneArgument(command).option('--closed <number>', 'as many of those that have ended, too', parse.closed, 0),
    examples: ['portage lane transactions 0x52908400098527886e0f7030069857d2e4169ee7 --chain ethereum --closed 10'],
    run: (call: Call<LaneOptions & { closed: number }>, name: string) =>
      withLane(call, name, async (lane, client, config) => {
        const rows = await listOperatorTransactions(client, lane, call.options.closed)
        const coin = coinOfLane(config, lane)
        const shown = rows.map((row) => cells(row, coin))
        return { json: { lane, transactions: rows }, text: list('no transactions', headings, shown) }
      }),
  },
  'cancel-transaction': {
    description:
      "End an operator's own transaction. A nonce in flight gets a no-op of the lane; if the call is mined first, the transaction is done.",
    options: (command) =>
      withReason(command.argument('<id>', 'its id, or the end of it; portage lane transactions shows them')).option(
        '--wait',
        'until it has ended; exit code 1 if it was not cancelled',
      ),
    examples: ['portage lane cancel-transaction 1f2e3d4c5b6a7988 --reason "wrong amount" --wait'],
    run: ({ withOrder, options, context }: Call<Reasoned & { wait?: true }>, given: string) =>
      withOrder(async (client, config, allow) => {
        const { wait } = options
        const id = await findOperatorTransaction(client, given)
        const [, lane = ''] = /^operator-transaction:([^:]+:[^:]+):/.exec(id) ?? []
        await cancelOperatorTransaction(client, id, allow(aboutLane(config, lane)))
        const asked = 'cancel; portage lane transactions --closed 5 shows how it ended'
        if (!wait) return { json: { id, asked: 'cancel' }, text: facts({ id, asked }) }
        const ended = await followOperatorTransaction(client, id, (why) => context.stderr.write(`${harmless(why)}\n`))
        const { state, detail } = ended
        return { json: { id, ...ended }, text: facts({ id, state, detail }), failed: state !== 'cancelled' }
      }),
  },
}

/** wei. Throws INPUT_INVALID if it names the coin of another chain: the same number of coins is worth something else there. */
function weiOf(config: Config, { wei, coin }: Amount, payer: LaneId): string {
  const own = coinOfLane(config, payer)
  if (coin === undefined || coin === own?.toUpperCase()) return wei
  const known = own === undefined ? 'not known: chains.<name>.coin in the config names it' : `${own}, and not ${coin}`
  throw invalid(`The coin of this lane's chain is ${known}. The unit ether is of whatever coin.`, { lane: payer })
}

/** Runs `use` with the lane that is ordered to pay. `allow`: as of withOrder, about the lane that pays. */
function withLaneOrder(
  { withOrder, options }: Call<PaymentOptions>,
  name: string,
  use: (lane: LaneId, client: TemporalClient, config: Config, allow: (lane: LaneId) => ReturnType<Allow>) => Promise<Outcome>,
): Promise<Outcome> {
  return withOrder(async (client, config, allow) =>
    use(await findLane(client, config, name, options.chain), client, config, (lane) => allow(aboutLane(config, lane))),
  )
}

function withWait(command: Command): Command {
  return command.option('--wait', 'until it is final; without it, the id of its workflow is printed')
}

interface Setting {
  readonly call: Call<PaymentOptions>
  readonly client: TemporalClient
  readonly config: Config
}

async function pay(
  { call, client, config }: Setting,
  input: Pick<OperatorTransactionInput, 'lane' | 'intent'>,
  order: Order,
): Promise<Outcome> {
  const { intent } = input
  const id = await startOperatorTransaction(client, input, order)
  const about = { id, lane: input.lane, to: intent.to, value: exactAmountText(intent.value, coinOfLane(config, input.lane)) }
  if (!call.options.wait) return { json: { ...about, value: `${intent.value} wei`, intent }, text: facts(about) }
  // On stderr, since it can take as long as the chain does: stdout is for the result.
  call.context.stderr.write(`${id} goes on by itself; this waits until it is final (Ctrl-C ends the waiting only)\n`)
  const status = await followOperatorTransaction(client, id, (why) => call.context.stderr.write(`${harmless(why)}\n`))
  const { state, detail, txHash: transaction, nonce } = status
  return { json: { id, ...status }, text: facts({ ...about, state, detail, nonce, transaction }), failed: state !== 'done' }
}

/** The lane's balance of an ERC-20 token, in its smallest units. Throws INPUT_INVALID if it is 0, or no token answers. */
async function tokenBalance(chain: ConfiguredChain, address: string, token: string): Promise<bigint> {
  const answer = await chain.call(token, erc20.encodeFunctionData('balanceOf', [address]), 'latest')
  if (!/^0x[0-9a-f]{64}$/i.test(answer)) throw invalid('no ERC-20 token answers', { token })
  const balance = BigInt(answer)
  if (balance === 0n) throw invalid('the lane has none of this token', { token })
  return balance
}

const headings = ['transaction', 'started', 'state', 'nonce', 'to', 'value', 'by', 'reason', 'detail']

function cells({ id, execution, startedAt, status }: OperatorTransactionRow, coin: string | undefined): Cell[] {
  const state = status?.state ?? (execution === 'RUNNING' ? 'no answer' : execution.toLowerCase())
  const { nonce, intent, by, reason, detail = '' } = status ?? {}
  const value = amountCell(status?.intent.value, coin)
  const to = intent && { full: intent.to, short: shortAddress(intent.to) }
  return [{ full: id, short: lastPart(id) }, timeText(startedAt), state, nonce, to, value, by, reason, detail]
}
