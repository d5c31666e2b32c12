import { coinOfChain, coinOfLane } from '../../config/networks.ts'
import type { FeePolicy, FeeScope } from '../../domain/fees/fees.ts'
import type { Settings, SettingsOrder } from '../../domain/settings/settings.ts'
import { weiOf } from './payments.ts'
import { feeScopeText } from './scope-text.ts'
import { field, type Given, ofOneScope, option, type OrderContext } from './spec.ts'
import { values } from './values.ts'

const scopes = 'global, chain:<name>, call:<chain>/<contract>[/<selector>], lane:<id>, transfer:<id>'
const scope = field('--scope <scope>', values.feeScope, scopes)
const limitFields = {
  maxFeePerGas: option('--max-fee-per-gas <amount>', values.amount, 'maximum price per unit of gas'),
  maxTip: option('--max-tip <amount>', values.amount, 'maximum tip per unit of gas'),
  maxFeePerTransaction: option(
    '--max-fee-per-transaction <amount>',
    values.amount,
    'maximum cost of a transaction, including the data fee',
  ),
  baseFeeCeiling: option('--base-fee-ceiling <amount>', values.amount, 'highest base fee at which new transfers are sent'),
  tipFactor: option('--tip-factor <number>', values.tipFactor, "the tip of the first offer is the market's tip times this factor"),
  bumpPercent: option('--bump-percent <number>', values.bumpPercent, 'how much each new attempt raises both fees, percent'),
  gasFactor: option('--gas-factor <number>', values.gasFactor, 'the gas limit is the gas estimate times this factor'),
  gasLimit: option('--gas-limit <gas>', values.gas, 'maximum gas limit of a transaction'),
}
const feeFields = { scope, ...limitFields }
export const feeLimits = Object.keys(limitFields) as (keyof FeePolicy)[]

const limitsOf = ({ scope: of }: { readonly scope: FeeScope }) => `limits of ${feeScopeText(of)}`

export const feeTexts = {
  set: {
    summary: 'Set limits of fees for a scope',
    details: 'Limits that the command does not name stay unchanged. For each limit, the most specific scope that sets it counts.',
    notes: `Amounts have a unit: 30gwei, 0.05ether, 1000000wei, or the coin of the scope's chain, like 0.05BNB. A number alone is
wei. The unit ether works for the coin of any chain.`,
    examples: [
      'portage fees set --scope chain:ethereum --base-fee-ceiling 80gwei --reason "NFT mint"',
      'portage fees set --scope lane:evm-56:0x52908400098527886e0f7030069857d2e4169ee7 --max-tip 2gwei --gas-factor 1.5 --reason "slow inclusion"',
    ],
    misuse: (given: Given<typeof feeFields>) =>
      feeLimits.every((limit) => given[limit] === undefined)
        ? 'give at least one limit; portage fees clear removes all of a scope'
        : undefined,
    ...ofOneScope(feeFields, limitsOf, feeOrders),
  },
  clear: {
    summary: 'Remove all limits that operators have set for a scope',
    details: 'The limits in the config apply again.',
    examples: ['portage fees clear --scope chain:bsc --reason "fees are normal again"'],
    ...ofOneScope({ scope }, limitsOf, ({ scope: of }: { readonly scope: FeeScope }): SettingsOrder[] => [
      { kind: 'setFees', scope: of, policy: {} },
    ]),
  },
}

/** Throws INPUT_INVALID if an amount names the coin of another chain. */
export async function feeOrders(
  given: Given<typeof feeFields>,
  read: () => Promise<Settings>,
  { config }: Pick<OrderContext, 'config'>,
): Promise<SettingsOrder[]> {
  const { scope: wanted } = given
  const coin = coinOfScope(config, wanted)
  const limits = feeLimits.flatMap((limit) => {
    const value = given[limit]
    return value === undefined ? [] : [[limit, typeof value === 'object' ? weiOf(value, coin, { scope: feeScopeText(wanted) }) : value]]
  })
  const before = (await read()).fees.find((rule) => comparable(rule.scope) === comparable(wanted))?.policy
  return [{ kind: 'setFees', scope: wanted, policy: { ...before, ...(Object.fromEntries(limits) as FeePolicy) } }]
}

function coinOfScope(config: OrderContext['config'], wanted: FeeScope): string | undefined {
  if (wanted.kind === 'lane') return coinOfLane(config, wanted.lane)
  return wanted.kind === 'chain' || wanted.kind === 'call' ? coinOfChain(config, wanted.chain) : undefined
}

/** Lowers the case of a scope, except in the ids of transfers, where case matters. */
function comparable(scope: FeeScope): string {
  return scope.kind === 'transfer' ? feeScopeText(scope) : feeScopeText(scope).toLowerCase()
}
