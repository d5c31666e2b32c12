import { Command } from 'commander'
import { readSettings } from '../../api/settings.ts'
import type { FeePolicy, FeeRule, FeeScope } from '../../domain/fees/policy.ts'
import { configRules } from '../../config/chains.ts'
import type { Cli } from '../context.ts'
import { exitCodes, readConfig } from '../context.ts'
import { feeScopeText, limitText, parseFeeScope, parseGas, parseGasFactor, parseWei } from '../fee-scope.ts'
import { print, table } from '../output.ts'
import { order, withAuthor } from '../settings.ts'
import { withClient } from '../temporal.ts'

type SetOptions = FeePolicy & { readonly scope: FeeScope; readonly reason: string; readonly by?: string }

const fields = ['maxFeePerGas', 'maxTip', 'maxFeePerTransaction', 'baseFeeCeiling', 'gasFactor', 'gasLimit'] as const

/** `portage fees show|set|clear` */
export function feesCommand(cli: Cli): Command {
  return new Command('fees')
    .description('Limits of what may be spent, changed while everything runs. They win over those of the config for the same scope.')
    .addCommand(showCommand(cli))
    .addCommand(setCommand(cli))
    .addCommand(clearCommand(cli))
}

function showCommand({ context, action }: Cli): Command {
  return new Command('show')
    .description('All limits: those that were set while everything runs, which win for their scope, and those of the config.')
    .addHelpText('after', '\nExample:\n  portage fees show --json')
    .action(
      action(async (globals) => {
        const config = await readConfig(context, globals)
        const { version, fees } = await withClient(config, (client) => readSettings(client))
        const configured = configRules(config)
        const row = (from: string) => (rule: FeeRule) => [
          feeScopeText(rule.scope),
          from,
          ...fields.map((field) => limitText(field, rule.policy[field])),
        ]
        const rows = [...fees.map(row('operator')), ...configured.map(row('config'))]
        print(
          context,
          globals,
          { version, fees, configured },
          rows.length === 0 ? 'no limits are set' : table(['scope', 'from', ...fields], rows),
        )
        return exitCodes.ok
      }),
    )
}

function setCommand(cli: Cli): Command {
  const { context, action } = cli
  return scoped(new Command('set'))
    .description('Set limits of a scope. Those that are not named stay as they are. The most specific scope that sets a limit decides it.')
    .option('--max-fee-per-gas <wei>', 'most that a unit of gas may cost', parseWei)
    .option('--max-tip <wei>', "most of that for the block's builder", parseWei)
    .option('--max-fee-per-transaction <wei>', 'most that a whole transaction may cost, data fee included', parseWei)
    .option('--base-fee-ceiling <wei>', 'above this base fee nothing new is sent', parseWei)
    .option('--gas-factor <number>', 'the gas limit is the estimate times this', parseGasFactor)
    .option('--gas-limit <gas>', 'most gas units of a transaction', parseGas)
    .addHelpText('after', setHelp)
    .action(
      action(async (globals, options: SetOptions, command: Command) => {
        const { scope, reason, by } = options
        const named = Object.fromEntries(fields.flatMap((field) => (options[field] === undefined ? [] : [[field, options[field]]])))
        if (Object.keys(named).length === 0) command.error('error: give at least one limit; portage fees clear takes all of a scope away')
        const { fees } = await withClient(await readConfig(context, globals), (client) => readSettings(client))
        const before = fees.find((rule) => sameScope(rule.scope, scope))?.policy
        const note = { done: `limits of ${feeScopeText(scope)} are set`, same: `the limits of ${feeScopeText(scope)} are so already` }
        const author = { reason, ...(by !== undefined && { by }) }
        return order(cli, globals, author, [{ kind: 'setFees', scope, policy: { ...before, ...named } }], note)
      }),
    )
}

function clearCommand(cli: Cli): Command {
  return scoped(new Command('clear'))
    .description('Take all limits of a scope away that were set while everything runs. Those of the config hold again.')
    .addHelpText('after', '\nExample:\n  portage fees clear --scope chain:bsc --reason "fees are normal again"')
    .action(
      cli.action(async (globals, options: Pick<SetOptions, 'scope' | 'reason' | 'by'>) => {
        const { scope } = options
        const note = { done: `no limits of ${feeScopeText(scope)} any more`, same: `no limits of ${feeScopeText(scope)} are set` }
        return order(cli, globals, options, [{ kind: 'setFees', scope, policy: {} }], note)
      }),
    )
}

function scoped(command: Command): Command {
  return withAuthor(
    command.requiredOption(
      '--scope <scope>',
      'global, chain:<name>, call:<chain>/<contract>[/<selector>], lane:<id>, transfer:<id>',
      parseFeeScope,
    ),
  )
}

function sameScope(a: FeeScope, b: FeeScope): boolean {
  // A transfer's id is the only part that is told apart by case.
  return a.kind === 'transfer' ? feeScopeText(a) === feeScopeText(b) : feeScopeText(a).toLowerCase() === feeScopeText(b).toLowerCase()
}

const setHelp = `
Amounts are wei, or have a unit: 30gwei, 0.05ether.

Examples:
  portage fees set --scope chain:ethereum --base-fee-ceiling 80gwei --reason "NFT mint"
  portage fees set --scope lane:evm-56:0x52908400098527886e0f7030069857d2e4169ee7 --max-tip 2gwei --gas-factor 1.5 --reason "slow inclusion"`
