import { z } from 'zod'
import { aboutLane, auditedChains, lanesOf } from '../../config/chains.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import { largestWindow } from '../../domain/lane/lane.ts'
import { mapLimited } from '../../runtime/map-limited.ts'
import { type LedgerOrder, orderOfLane, setLaneMode } from '../../temporal/client/lanes/lanes.ts'
import type { LaneMode } from '../../temporal/contracts/lane.ts'
import { type AskedOrder, field, type Fields, type Given, option, type OrderSpec, type OrderText } from './spec.ts'
import { laneToOrder } from './subjects.ts'
import { confirmation, values, within } from './values.ts'

const lane = '0x52908400098527886e0f7030069857d2e4169ee7'
const nonce = field('<nonce>', values.number, 'the nonce')
const window = field(
  '<nonces>',
  within(0, largestWindow),
  `maximum number of nonces in flight, up to ${largestWindow}; 0: the lane grants no nonces`,
)
const lanesAtOnce = 8
const common = { level: 'sign', subject: 'lane', reason: 'required' } as const

const asked = z
  .object({
    lane: z.string(),
    asked: z.string().describe('Sent as a signal, which Temporal keeps even while no worker serves the ledger.'),
  })
  .meta({ id: 'OrderedLane' })
const done = z
  .object({ lane: z.string(), done: z.literal(true), view: z.looseObject({}).describe('The ledger after the order.') })
  .meta({ id: 'OrderedLedger' })

/** Temporal keeps signals while no worker serves the ledger. */
function modeOrder(mode: LaneMode, text: Omit<OrderText, 'examples'> & { readonly why: string }): OrderSpec {
  return {
    ...common,
    ...text,
    route: `/v1/lanes/:lane/${mode}`,
    examples: [`portage lane ${mode} evm-1:${lane} --reason "${text.why}"`],
    answer: asked,
    async run(context, name) {
      const { lane: id, order } = await laneToOrder(context, name)
      await setLaneMode(context.client, id, mode, order)
      return { json: { lane: id, asked: mode }, text: { asked: mode, lane: id } }
    },
  }
}

function ledgerOrder<Of extends Fields>(name: string, { ask, ...text }: AskedOrder<Of, LedgerOrder>): OrderSpec {
  return {
    ...common,
    ...text,
    route: `/v1/lanes/:lane/${name}`,
    answer: done,
    async run(context, subject, given: Given<Of>) {
      const { lane: id, order } = await laneToOrder(context, subject)
      const view = await orderOfLane(context.client, id, ask(given), order)
      const numbers = Object.values<unknown>(given).filter((value) => typeof value === 'number')
      return { json: { lane: id, done: true, view }, text: { done: [name, ...numbers].join(' '), lane: id, 'in flight': view.inFlight } }
    },
  }
}

export const laneOrders = {
  'lane pause': modeOrder('pause', {
    summary: 'Make the lane stop granting nonces',
    details: 'The lane still follows and replaces nonces in flight. Transfers without a nonce go to another lane.',
    why: 'key rotation',
  }),
  'lane resume': modeOrder('resume', { summary: 'Make a paused lane grant nonces again', why: 'the key is in place' }),
  'lane drain': modeOrder('drain', {
    summary: 'Make the lane take no new work except operator transactions (send, sweep, top-up)',
    details: 'When the lane has no nonce in flight, only operator transactions use its key.',
    why: 'the key is replaced',
  }),
  'lane forbid': modeOrder('forbid', {
    summary: 'Make the lane take no new work at all, and release transfers whose transaction is not mined',
    details: 'Use this order for a key that must not sign.',
    why: 'the key may have leaked',
  }),
  'lane activate': modeOrder('activate', { summary: 'Make a paused, draining or forbidden lane take work again', why: 'the key is safe' }),
  'lane resync': ledgerOrder('resync', {
    summary: 'Make the lane read its account again before it grants the next nonce',
    details: 'More than half of the nodes must agree. The lane does not forget any nonce.',
    examples: [`portage lane resync ${lane} --reason "the key was used elsewhere"`],
    ask: () => ({ kind: 'resync' }),
  }),
  'lane fill': ledgerOrder('fill', {
    summary: 'Mine a no-op now for a nonce that no intent owns',
    details: 'Such a nonce was given back, or is left from an earlier ledger.',
    examples: [`portage lane fill ${lane} 118 --reason "of an earlier ledger"`],
    fields: { nonce },
    ask: (given) => ({ kind: 'fill', nonce: given.nonce, reason: 'operator' }),
  }),
  'lane cancel-nonce': ledgerOrder('cancel-nonce', {
    summary: 'Replace the transaction of a nonce by a no-op',
    details: 'Once the no-op is final, the transfer of the nonce is sent with another nonce.',
    examples: [`portage lane cancel-nonce ${lane} 118 --reason "the recipient asked for it"`],
    fields: { nonce },
    ask: (given) => ({ kind: 'cancelNonce', nonce: given.nonce }),
  }),
  'lane replace': ledgerOrder('replace', {
    summary: 'Send the transaction of a nonce again with a higher fee, at the next block',
    details: 'The new fee is the highest of three: the old fee plus 20 % (or `bumpPercent`), the fee of the market, and the given amount.',
    examples: [`portage lane replace ${lane} 118 --max-fee 90gwei --tip 3gwei --reason "it must go now"`],
    fields: {
      nonce,
      maxFee: option('--max-fee <amount>', values.wei, 'at least this fee per gas: 90gwei'),
      tip: option('--tip <amount>', values.wei, 'at least this tip per gas: 3gwei'),
    },
    ask: ({ nonce: one, maxFee, tip }) => ({ kind: 'replace', nonce: one, ...(maxFee && { maxFee }), ...(tip && { tip }) }),
  }),
  'lane republish': ledgerOrder('republish', {
    summary: 'Send signed transactions to every node again, if they are in no block',
    details: 'Portage sends these transactions again by itself every few blocks.',
    examples: [`portage lane republish ${lane} --reason "the node's pool was emptied"`],
    fields: { nonce: option('[nonce]', values.number, 'only this nonce (default: all nonces whose transaction is in no block)') },
    ask: (given) => ({ kind: 'republish', nonce: given.nonce }),
  }),
  'lane set-window': ledgerOrder('set-window', {
    summary: 'Change how many nonces of a lane may be in flight',
    details: 'The new window applies until the window in the config changes.',
    examples: [`portage lane set-window ${lane} 32 --reason "the pool takes more"`],
    fields: { window },
    ask: (given) => ({ kind: 'setWindow', window: given.window }),
  }),
  'lane set-windows': {
    level: 'sign',
    reason: 'required',
    route: '/v1/lanes/set-windows',
    summary: 'Change how many nonces of each lane may be in flight, for all lanes in the config or of one chain',
    details:
      'The order is the same as set-window for each lane. A lane whose ledger cannot be reached keeps its window, and the answer names the lane.',
    examples: ['portage lane set-windows 16 --chain ethereum --reason "the pools are full"'],
    fields: { window, chain: option('--chain <name>', values.text, 'only lanes of this chain') },
    answer: z
      .object({ lanes: z.array(z.object({ lane: z.string(), window: z.number().optional(), code: z.string().optional() })) })
      .meta({ id: 'OrderedWindows' }),
    async run({ client, config, allow }, _, given: { readonly window: number; readonly chain?: string | undefined }) {
      const chains = auditedChains(config, given.chain)
      const orders = lanesOf(config)
        .filter(({ chain }) => chains.includes(chain))
        .map(({ id }) => ({ id, order: allow(aboutLane(config, id)) }))
      const lanes = await mapLimited(orders, lanesAtOnce, async ({ id, order }) => {
        try {
          await orderOfLane(client, id, { kind: 'setWindow', window: given.window }, order)
          return { lane: id, window: given.window }
        } catch (error) {
          return { lane: id, code: toRelayerError(error).code }
        }
      })
      const failed = lanes.flatMap(({ lane: id, code }) => (code === undefined ? [] : [`${id} (${code})`]))
      const text = { done: `set-windows ${given.window}`, lanes: lanes.length - failed.length, failed: failed.join(', ') || undefined }
      return { json: { lanes }, text, failed: failed.length > 0 }
    },
  },
  'lane reset': ledgerOrder('reset', {
    summary:
      'After another chain has replaced the chain of a lane (LANE_CHAIN_REPLACED), make the lane forget every nonce and start from its account',
    examples: [`portage lane reset ${lane} --chain-replaced --reason "the test network began anew"`],
    fields: {
      chainReplaced: field(
        '--chain-replaced',
        confirmation,
        'confirms that the chain was replaced: the new chain has no transaction of the old chain',
      ),
    },
    ask: () => ({ kind: 'reset' }),
  }),
} satisfies Record<string, OrderSpec>
