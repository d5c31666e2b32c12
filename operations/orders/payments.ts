import { z } from 'zod'
import { aboutLane, chainOf, lanesOf } from '../../config/chains.ts'
import { coinOfLane } from '../../config/networks.ts'
import { type Facts, RelayerError } from '../../domain/catalogue/errors.ts'
import type { Intent, LaneId } from '../../domain/lane/lane.ts'
import type { Order } from '../../domain/order.ts'
import { type Amount, exactAmountText } from '../../domain/text/amounts.ts'
import { sweepIntent, topUpIntent } from '../../lanes/account/payments.ts'
import {
  cancelOperatorTransaction,
  findOperatorTransaction,
  startOperatorTransaction,
} from '../../temporal/client/lanes/operator-transactions.ts'
import { field, type Given, invalid, option, type OrderContext, type OrderResult, type OrderSpec } from './spec.ts'
import { findLane, laneToOrder } from './subjects.ts'
import { usually, values } from './values.ts'

const lane = '0x52908400098527886e0f7030069857d2e4169ee7'
const payment = {
  level: 'sign',
  subject: 'lane',
  pays: true,
  answer: z.object({
    id: z.string().describe('The id of the workflow of the transaction.'),
    lane: z.string().describe('The lane that pays.'),
  }),
} as const

const sendFields = {
  to: field('--to <address>', values.address, 'the account to call or to pay'),
  value: option('--value <amount>', values.amount, 'coins to send: 0.05ETH, 1000000wei (default: none)'),
  data: field('--data <hex>', usually(values.bytes, '0x'), 'call data'),
}
const sweepFields = {
  keep: option('--keep <amount>', values.amount, "coins that the lane keeps: 0.5ETH (default: the lane's minimumBalance)"),
  token: {
    ...option('--token <address>', values.address, 'the whole balance of this ERC-20 token, instead of coins'),
    onlyCommand: true as const,
  },
}
const topUpFields = {
  from: field('--from <lane>', values.text, 'the lane that pays'),
  amount: field('--amount <amount>', values.amount, 'amount to send: 0.05ETH'),
}

export const paymentOrders = {
  'lane send': {
    ...payment,
    route: '/v1/lanes/:lane/send',
    summary: "Send one transaction with the lane's key",
    details: 'The signing policy of the lane must allow the transaction.',
    examples: [`portage lane send ${lane} --to 0x8617e340b3d01fa5f11f306f4090fd50e238070d --value 0.01ETH --reason "a refund" --wait`],
    fields: sendFields,
    reason: 'required',
    async run(context, name, { to, value = { wei: '0' }, data }: Given<typeof sendFields>) {
      const { lane: id, order } = await laneToOrder(context, name)
      return pay(context, 'send', { lane: id, intent: { to, data, value: weiOfLane(context, value, id) } }, order)
    },
  },
  'lane sweep': {
    ...payment,
    route: '/v1/lanes/:lane/sweep',
    summary: 'Send the spare coins of a lane to the treasury of its chain (chains.<name>.treasury)',
    details: 'The lane keeps its minimumBalance or the given amount, and enough coins for the maximum cost of this payment.',
    examples: [`portage lane sweep ${lane} --keep 0.5ETH --wait`],
    fields: sweepFields,
    reason: { usual: 'sweep to the treasury' },
    async run(context, name, given: Given<typeof sweepFields>) {
      const { lane: id, order } = await laneToOrder(context, name)
      return pay(context, 'sweep', { lane: id, intent: await sweep(context, id, given) }, order)
    },
  },
  'lane top-up': {
    ...payment,
    route: '/v1/lanes/:lane/top-up',
    summary: 'Send coins to a lane from another lane of its chain',
    details: 'The config must have chains.<name>.signing.topUps: true.',
    examples: [`portage lane top-up ${lane} --chain ethereum --from 0x8617e340b3d01fa5f11f306f4090fd50e238070d --amount 1ETH`],
    fields: topUpFields,
    reason: { usual: 'top-up' },
    async run(context, name, { from, amount }: Given<typeof topUpFields>) {
      const { client, config, chain } = context
      const id = await findLane(client, config, name, chain)
      const { lane: payer, order } = await laneToOrder(context, from)
      const paying = configured(config, payer).chain
      if (!chainOf(config, paying).signing.topUps)
        throw invalid(`chains.${paying}.signing.topUps is false: keys there pay no other lanes. Send coins to the lane from elsewhere.`)
      const intent = topUpIntent(id, payer, weiOfLane(context, amount, payer))
      const reason = order.reason === 'top-up' ? `top-up of ${id}` : order.reason
      return pay(context, 'top-up', { lane: payer, intent }, { ...order, reason })
    },
  },
  'lane cancel-transaction': {
    level: 'sign',
    subject: 'transaction',
    route: '/v1/transactions/:id/cancel',
    summary: "Cancel an operator's own transaction: a no-op of the lane replaces a transaction in flight",
    details: 'If the transaction is mined before the no-op, it is not cancelled.',
    examples: ['portage lane cancel-transaction 1f2e3d4c5b6a7988 --reason "wrong amount" --wait'],
    reason: 'required',
    answer: z.object({ id: z.string(), asked: z.literal('cancel') }),
    async run({ client, config, allow }, given) {
      const id = await findOperatorTransaction(client, given)
      const [, payer = ''] = /^operator-transaction:([^:]+:[^:]+):/.exec(id) ?? []
      await cancelOperatorTransaction(client, id, allow(aboutLane(config, payer)))
      return { json: { id, asked: 'cancel' }, text: { id, asked: 'cancel; portage lane transactions --closed 5 shows how it ended' } }
    },
  },
} satisfies Record<string, OrderSpec>

/** Throws LANE_NOT_FOUND for a lane outside the config, because no process would end its payments. */
function configured(config: OrderContext['config'], lane: LaneId) {
  const found = lanesOf(config).find(({ id }) => id === lane)
  if (!found) throw new RelayerError('LANE_NOT_FOUND', { detail: 'It is not in the config.', facts: { lane } })
  return found
}

/** Throws INPUT_INVALID, LANE_NOT_FOUND and the errors of reading the chain. */
async function sweep(context: OrderContext, lane: LaneId, { keep: given, token }: Given<typeof sweepFields>): Promise<Intent> {
  const { config, withChain, sweepToken } = context
  const found = configured(config, lane)
  const { treasury } = chainOf(config, found.chain)
  if (!treasury) throw invalid(`chains.${found.chain}.treasury is not in the config`)
  const { address, minimumBalance } = found.lane
  if (token !== undefined && sweepToken) return sweepToken(found.chain, { from: address, to: treasury.address, token })
  const keep = given ? weiOfLane(context, given, lane) : minimumBalance
  if (keep === undefined) throw invalid('keep: say how much stays; the lane has no minimumBalance')
  const wanted = { lane, treasury: treasury.address.toLowerCase(), keep, coin: coinOfLane(config, lane) }
  return withChain(found.chain, (chain) => sweepIntent(chain, wanted))
}

async function pay(
  { client, config, key }: OrderContext,
  name: string,
  { lane: payer, intent }: { readonly lane: LaneId; readonly intent: Intent },
  order: Order,
): Promise<OrderResult> {
  configured(config, payer)
  // A key from a header contains no space, so keys of different routes cannot be equal.
  const id = await startOperatorTransaction(client, { lane: payer, intent }, order, key === undefined ? undefined : `${name} ${key}`)
  const about = { id, lane: payer, to: intent.to }
  return {
    json: { ...about, value: `${intent.value} wei`, intent },
    text: { ...about, value: exactAmountText(intent.value, coinOfLane(config, payer)) },
  }
}

function weiOfLane({ config }: OrderContext, amount: Amount, lane: LaneId): string {
  return weiOf(amount, coinOfLane(config, lane), { lane })
}

/** Throws INPUT_INVALID if the amount names a coin other than `own`. */
export function weiOf({ wei, coin }: Amount, own: string | undefined, facts: Facts): string {
  if (coin === undefined || coin === own?.toUpperCase()) return wei
  const known = own === undefined ? 'not known, or several: chains.<name>.coin in the config names it' : `${own}, and not ${coin}`
  const detail = `The coin here is ${known}. The units wei, gwei and ether are of any coin.`
  throw new RelayerError('INPUT_INVALID', { detail, facts })
}
