import { configRules } from '../../../config/chains.ts'
import type { FeePolicy, FeeRule } from '../../../domain/fees/fees.ts'
import { exactAmountText, gweiText } from '../../../domain/text/amounts.ts'
import { feeScopeText } from '../../../operations/orders/scope-text.ts'
import { feeLimits } from '../../../operations/orders/fees.ts'
import { readSettings } from '../../../temporal/client/settings/settings.ts'
import type { CommandSpec } from '../../command.ts'
import { orderCommands } from '../../orders.ts'
import { list } from '../../output/output.ts'

export const feesCommand: CommandSpec = {
  description: 'Limits of fees, changed at runtime. Limits of operators override the limits in the config for the same scope.',
  commands: {
    show: {
      description: 'All limits of fees, set by operators or by the config. For the same scope, the limits of operators apply.',
      examples: ['portage fees show --json'],
      run: async ({ withTemporal }) => {
        const [{ version, fees }, configured] = await withTemporal(
          async (client, config) => [await readSettings(client), configRules(config)] as const,
        )
        const row = ({ scope, policy }: FeeRule, from: string) => ({
          ...{ scope: feeScopeText(scope), from },
          ...Object.fromEntries(feeLimits.map((field) => [field, limitText(field, policy[field])])),
        })
        const rows = [...fees.map((rule) => row(rule, 'operator')), ...configured.map((rule) => row(rule, 'config'))]
        return { json: { version, fees, configured }, text: list('no limits are set', rows) }
      },
    },
    ...orderCommands('fees'),
  },
}

/** Shows a limit in a form that `fees set` accepts: prices in gwei, costs in ether, other numbers unchanged. */
export function limitText(field: keyof FeePolicy, value: string | number | undefined): string {
  if (value === undefined) return '-'
  if (typeof value === 'number' || field === 'gasLimit') return String(value)
  return field === 'maxFeePerTransaction' ? exactAmountText(value, 'ether') : gweiText(value)
}
