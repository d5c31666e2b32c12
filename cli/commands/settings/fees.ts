import type { Command } from 'commander'
import { readSettings } from '../../../temporal/client/settings/settings.ts'
import { configRules } from '../../../config/chains.ts'
import type { FeePolicy, FeeRule, FeeScope } from '../../../domain/fees/policy.ts'
import type { Call, CommandSpec } from '../../command.ts'
import { feeScopeText, limitText, parseFeeScope } from '../../arguments/fee-scope.ts'
import { type Reasoned, parse, withReason } from '../../arguments/options.ts'
import { sendToSettings } from '../../orders.ts'
import { list } from '../../output/output.ts'

type ScopeOptions = Reasoned & { readonly scope: FeeScope }

const fields = ['maxFeePerGas', 'maxTip', 'maxFeePerTransaction', 'baseFeeCeiling', 'gasFactor', 'gasLimit'] as const

export const feesCommand: CommandSpec = {
  description: 'Limits of what may be spent, changed while everything runs. They win over those of the config for the same scope.',
  commands: {
    show: {
      description: 'All limits: those that were set while everything runs, which win for their scope, and those of the config.',
      examples: ['portage fees show --json'],
      run: async ({ withTemporal }) => {
        const [{ version, fees }, configured] = await withTemporal(
          async (client, config) => [await readSettings(client), configRules(config)] as const,
        )
        const row =
          (from: string) =>
          ({ scope, policy }: FeeRule) => [feeScopeText(scope), from, ...fields.map((field) => limitText(field, policy[field]))]
        const rows = [...fees.map(row('operator')), ...configured.map(row('config'))]
        return { json: { version, fees, configured }, text: list('no limits are set', ['scope', 'from', ...fields], rows) }
      },
    },
    set: {
      description:
        'Set limits of a scope. Those that are not named stay as they are. The most specific scope that sets a limit decides it.',
      options: (command) =>
        scoped(command)
          .option('--max-fee-per-gas <amount>', 'most that a unit of gas may cost', parse.wei)
          .option('--max-tip <amount>', "most of that for the block's builder", parse.wei)
          .option('--max-fee-per-transaction <amount>', 'most that a whole transaction may cost, data fee included', parse.wei)
          .option('--base-fee-ceiling <amount>', 'above this base fee nothing new is sent', parse.wei)
          .option('--gas-factor <number>', 'the gas limit is the estimate times this', parse.gasFactor)
          .option('--gas-limit <gas>', 'most gas units of a transaction', parse.gas),
      notes: 'Amounts have a unit: 30gwei, 0.05ether, 1000000wei. A number alone is wei.',
      examples: [
        'portage fees set --scope chain:ethereum --base-fee-ceiling 80gwei --reason "NFT mint"',
        'portage fees set --scope lane:evm-56:0x52908400098527886e0f7030069857d2e4169ee7 --max-tip 2gwei --gas-factor 1.5 --reason "slow inclusion"',
      ],
      run: async (call: Call<ScopeOptions & FeePolicy>) => {
        const { options, misuse } = call
        const { scope } = options
        const named = Object.fromEntries(fields.flatMap((field) => (options[field] === undefined ? [] : [[field, options[field]]])))
        if (Object.keys(named).length === 0) misuse('give at least one limit; portage fees clear takes all of a scope away')
        const name = feeScopeText(scope)
        const words = { done: `limits of ${name} are set`, same: `the limits of ${name} are so already` }
        return sendToSettings(call, words, ({ fees }) => {
          const before = fees.find((rule) => sameScope(rule.scope, scope))?.policy
          return { orders: [{ kind: 'setFees', scope, policy: { ...before, ...named } }] }
        })
      },
    },
    clear: {
      description: 'Take all limits of a scope away that were set while everything runs. Those of the config hold again.',
      options: scoped,
      examples: ['portage fees clear --scope chain:bsc --reason "fees are normal again"'],
      run: (call: Call<ScopeOptions>) => {
        const { scope } = call.options
        const name = feeScopeText(scope)
        const words = { done: `no limits of ${name} any more`, same: `no limits of ${name} are set` }
        return sendToSettings(call, words, [{ kind: 'setFees', scope, policy: {} }])
      },
    },
  },
}

function scoped(command: Command): Command {
  const scopes = 'global, chain:<name>, call:<chain>/<contract>[/<selector>], lane:<id>, transfer:<id>'
  return withReason(command.requiredOption('--scope <scope>', scopes, parseFeeScope))
}

function sameScope(a: FeeScope, b: FeeScope): boolean {
  // A transfer's id is the only part that is told apart by case.
  return a.kind === 'transfer' ? feeScopeText(a) === feeScopeText(b) : feeScopeText(a).toLowerCase() === feeScopeText(b).toLowerCase()
}
