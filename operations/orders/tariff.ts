import { z } from 'zod'
import { decimal } from '../../config/load/values.ts'
import type { SettingsOrder } from '../../domain/settings/settings.ts'
import type { Tariff, TariffScope } from '../../domain/settings/tariff.ts'
import { tariffScopeText } from './scope-text.ts'
import { field, type Fields, type Given, ofOneScope, option } from './spec.ts'
import { nameSchema as name, oneOf, textSchema, values } from './values.ts'

const text = textSchema()
export const tariffScopeSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('asset'), token: text }),
    z.strictObject({ kind: z.literal('fee'), chain: name, token: text }),
    z.strictObject({ kind: z.literal('route'), source: name.optional(), target: name }),
  ])
  .meta({ id: 'TariffScope' })
export const tariffSchema = z
  .strictObject({
    delivered: z.boolean().optional().describe('For an asset: whether it is delivered.'),
    minimumFee: decimal.optional().describe("For a fee: the minimum, in the VAA's units of the token."),
    price: decimal.optional().describe("For a fee: value of one VAA unit, wei of the target's coin."),
    free: z.boolean().optional().describe('For a route: whether it is free.'),
  })
  .meta({ id: 'Tariff', description: 'Fields for the kind of the scope. Without any, the config applies.' })

const token = field(
  '<token>',
  values.text,
  '<wormhole chain id>/<64 hex digits>: the chain where the token is native, and its address on that chain',
)
const assetFields = { token, answer: field('<answer>', oneOf(['deliver', 'decline', 'config']), 'config: as the config says') }
const feeFields = {
  chain: field('<chain>', values.chainName, 'the target'),
  token,
  minimumFee: option('--minimum-fee <units>', values.u64, 'decline lower fees than this; in units of the message (at most 8 decimals)'),
  price: option(
    '--price <amount>',
    values.wei,
    "value of one unit in the target's coin; a transfer whose fee is below the cost of its delivery waits",
  ),
  clear: option('--clear', values.flag, 'return to the config'),
}
const routeFields = {
  target: field('<target>', values.chainName, 'the target chain'),
  answer: field('<answer>', oneOf(['free', 'paid', 'config']), 'config: as the config says'),
  source: option(
    '--source <chain>',
    values.chainName,
    'only the route from this chain (default: the routes from all chains that no other order names)',
  ),
}

function ofTariff<Of extends Fields>(fields: Of, read: (given: Given<Of>) => { readonly scope: TariffScope; readonly tariff: Tariff }) {
  const orders = (given: Given<Of>): SettingsOrder[] => [{ kind: 'setTariff', ...read(given) }]
  return ofOneScope(fields, (given) => `tariff of ${tariffScopeText(read(given).scope)}`, orders)
}

const details = 'Every process obeys within about two seconds. Run portage transfer retry for transfers that were declined before.'

export const tariffOrders = {
  asset: {
    summary: 'Deliver a token of the token bridge, or decline its transfers',
    details,
    examples: ['portage tariff asset "$TOKEN" decline --reason "the token is paused"'],
    ...ofTariff(assetFields, ({ token: of, answer }) => ({
      scope: { kind: 'asset', token: of },
      tariff: answer === 'config' ? {} : { delivered: answer === 'deliver' },
    })),
  },
  fee: {
    summary: 'Set the minimum fee of a token of the token bridge, and the value of its fees, on a target chain',
    details: `The command replaces both values. A value that the command does not give returns to the value in the config. ${details}`,
    examples: ['portage tariff fee bsc "$TOKEN" --minimum-fee 500000 --price 1500000000wei --reason "BNB fell"'],
    misuse: ({ minimumFee, price, clear }: Given<typeof feeFields>) =>
      (minimumFee === undefined && price === undefined) !== (clear === true)
        ? 'give --minimum-fee, --price or both, or --clear alone'
        : undefined,
    ...ofTariff(feeFields, ({ chain, token: of, minimumFee, price }) => ({
      scope: { kind: 'fee', chain, token: of },
      tariff: { ...(minimumFee !== undefined && { minimumFee }), ...(price !== undefined && { price }) },
    })),
  },
  route: {
    summary: 'Set whether a route of the token bridge is free for tokens without a minimum fee',
    details: `On a free route, anyone can make your lanes pay for gas. ${details}`,
    examples: ['portage tariff route bsc free --source ethereum --reason "promotion"', 'portage tariff route bsc paid --reason "flood"'],
    ...ofTariff(routeFields, ({ source, target, answer }) => ({
      scope: { kind: 'route', target, ...(source !== undefined && { source }) },
      tariff: answer === 'config' ? {} : { free: answer === 'free' },
    })),
  },
}
