import type { Command } from 'commander'
import { Interface } from 'ethers'
import { chainOf, lanesOf } from '../../config/chains.ts'
import { RelayerError } from '../../domain/errors.ts'
import { laneAddress, type LaneId } from '../../domain/lane/lane-id.ts'
import type { TemporalClient } from '../../temporal/client/client.ts'
import { operatorTransactionResult, startOperatorTransaction } from '../../temporal/client/operator-transactions.ts'
import type { OperatorTransactionInput } from '../../temporal/contracts/operator-transaction.ts'
import { type Call, type Commands, type Outcome } from '../command.ts'
import { type ConfiguredChain, withChain } from '../chains.ts'
import { laneArgument, type LaneOptions, resolveLane, withLane } from '../lanes.ts'
import { type Author, type By, invalid, parse, withAuthor, withBy } from '../options.ts'
import { facts } from '../output.ts'

const erc20 = new Interface(['function transfer(address, uint256)', 'function balanceOf(address)'])
const lane = '0x52908400098527886e0f7030069857d2e4169ee7'

interface PaymentOptions extends LaneOptions, By {
  readonly wait?: true
}

/** An operator's own transactions, through the ledger of the lane. */
export const paymentCommands: Commands = {
  send: {
    description: "Send one transaction with the lane's key. The signing policy of the lane must allow it.",
    options: (command) =>
      withAuthor(
        withWait(laneArgument(command))
          .requiredOption('--to <address>', 'whom to call or pay', parse.address)
          .option('--value <wei>', 'coins to send', parse.wei, '0')
          .option('--data <hex>', 'call data', parse.bytes, '0x'),
      ),
    examples: [`portage lane send ${lane} --to 0x8617e340b3d01fa5f11f306f4090fd50e238070d --value 1000 --reason "a refund" --wait`],
    run: (call: Call<PaymentOptions & Author & { to: string; value: string; data: string }>, name: string) =>
      withLane(call, name, (id, client) => {
        const { to, data, value, reason, by } = call.options
        return pay(call, client, { lane: id, intent: { to, data, value }, reason, by })
      }),
  },
  sweep: {
    description:
      "Send what the lane does not need to the chain's treasury (chains.<name>.treasury). What the transfer itself may cost stays, too.",
    options: (command) =>
      withBy(
        withWait(laneArgument(command))
          .option('--keep <wei>', "coins that stay; default: the lane's minimumBalance", parse.wei)
          .option('--token <address>', 'the whole balance of this ERC-20 token, instead of coins', parse.address),
      ),
    examples: [`portage lane sweep ${lane} --keep 500000000000000000 --wait`],
    run: (call: Call<PaymentOptions & { keep?: string; token?: string }>, name: string) =>
      withLane(call, name, async (id, client, config) => {
        const found = lanesOf(config).find((one) => one.id === id)
        if (!found) throw new RelayerError('LANE_NOT_FOUND', { detail: 'It is not in the config.', facts: { lane: id } })
        const { address, minimumBalance } = found.lane
        const { keep = minimumBalance, token, by } = call.options
        const { treasury } = chainOf(config, found.chain)
        if (!treasury) throw invalid(`chains.${found.chain}.treasury is not in the config`)
        if (!token && keep === undefined) throw invalid('say what stays: --keep <wei>')
        const intent = await withChain(config, found.chain, async (chain) =>
          token
            ? {
                to: token,
                data: erc20.encodeFunctionData('transfer', [treasury.address, await tokenBalance(chain, address, token)]),
                value: '0',
              }
            : { to: treasury.address, data: '0x', value: await spare(chain, address, treasury.address, BigInt(keep ?? '0')) },
        )
        return pay(call, client, { lane: id, intent, reason: 'sweep to the treasury', by })
      }),
  },
  'top-up': {
    description: 'Send coins to a lane from another lane of its chain.',
    options: (command) =>
      withBy(
        withWait(laneArgument(command))
          .requiredOption('--from <lane>', 'the lane that pays')
          .requiredOption('--amount <wei>', 'how much', parse.wei),
      ),
    examples: [
      `portage lane top-up ${lane} --chain ethereum --from 0x8617e340b3d01fa5f11f306f4090fd50e238070d --amount 1000000000000000000`,
    ],
    run: (call: Call<PaymentOptions & { from: string; amount: string }>, name: string) =>
      withLane(call, name, (id, client, config) => {
        const { chain, from, amount, by } = call.options
        const payer = resolveLane(config, from, chain)
        if (network(payer) !== network(id) || payer === id)
          throw invalid('the two must be different lanes of one network', { lane: id, from: payer })
        return pay(call, client, { lane: payer, intent: { to: laneAddress(id), data: '0x', value: amount }, reason: `top-up of ${id}`, by })
      }),
  },
}

function withWait(command: Command): Command {
  return command.option('--wait', 'until it is final; without it, the id of its workflow is printed')
}

async function pay(call: Call<{ wait?: true }>, client: TemporalClient, input: OperatorTransactionInput): Promise<Outcome> {
  const { intent } = input
  const id = await startOperatorTransaction(client, input)
  const about = { id, lane: input.lane, to: intent.to, value: `${intent.value} wei` }
  if (!call.options.wait) return { json: { ...about, intent }, text: facts(about) }
  // On stderr, since it can take as long as the chain does: stdout is for the result.
  call.context.stderr.write(`${id} goes on by itself; this waits until it is final (Ctrl-C ends the waiting only)\n`)
  const status = await operatorTransactionResult(client, id)
  const { state, detail, txHash: transaction, nonce } = status
  return { json: { id, ...status }, text: facts({ ...about, state, detail, nonce, transaction }), failed: state !== 'done' }
}

function network(id: LaneId): string {
  return id.slice(0, id.indexOf(':'))
}

/** Gas of a payment, and the factor by which the price may rise before it is sent. */
const paymentGas = 21_000n
const priceRoom = 2n
/** The signed gas limit is the estimate times 1.2; 2 is on the safe side. */
const limitRoom = 2n

/** The coins that remain after `keep` and the cost of sending them, wei, decimal. Throws INPUT_INVALID if there are none. */
async function spare(chain: ConfiguredChain, address: string, to: string, keep: bigint): Promise<string> {
  const intent = { to, data: '0x', value: '0' }
  const [account, quote, dataFee] = await Promise.all([chain.account(address), chain.quote(), chain.dataFee(intent)])
  const cost = paymentGas * limitRoom * BigInt(quote.maxFee) * priceRoom + BigInt(dataFee) * priceRoom
  const value = BigInt(account.balance) - keep - cost
  if (value > 0n) return String(value)
  throw invalid(`nothing to send: balance ${account.balance} wei, to keep ${keep} wei, fee up to ${cost} wei`, { lane: address })
}

/** The lane's balance of an ERC-20 token, in its smallest units. Throws INPUT_INVALID if it is 0, or no token answers. */
async function tokenBalance(chain: ConfiguredChain, address: string, token: string): Promise<bigint> {
  const answer = await chain.call(token, erc20.encodeFunctionData('balanceOf', [address]), 'latest')
  if (!/^0x[0-9a-f]{64}$/i.test(answer)) throw invalid('no ERC-20 token answers', { token })
  const balance = BigInt(answer)
  if (balance === 0n) throw invalid('the lane has none of this token', { token })
  return balance
}
