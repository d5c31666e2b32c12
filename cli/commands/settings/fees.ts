import { readSettings } from '../../../temporal/client/settings/settings.ts'
import { configRules } from '../../../config/chains.ts'
import type { FeeRule } from '../../../domain/fees/policy.ts'
import type { CommandSpec } from '../../command.ts'
import { limitText } from '../../arguments/fee-scope.ts'
import { feeScopeText } from '../../../operations/orders/scope-text.ts'
import { feeLimits } from '../../../operations/orders/settings.ts'
import { orderCommands } from '../../orders.ts'
import { list } from '../../output/output.ts'

export const feesCommand: CommandSpec = {
  description: 'Spending limits, changed at runtime. They override those of the config for the same scope.',
  commands: {
    show: {
      description: 'All limits: those that operators set, which win for their scope, and those of the config.',
      examples: ['portage fees show --json'],
      run: async ({ withTemporal }) => {
        const [{ version, fees }, configured] = await withTemporal(
          async (client, config) => [await readSettings(client), configRules(config)] as const,
        )
        const row =
          (from: string) =>
          ({ scope, policy }: FeeRule) => [feeScopeText(scope), from, ...feeLimits.map((field) => limitText(field, policy[field]))]
        const rows = [...fees.map(row('operator')), ...configured.map(row('config'))]
        return { json: { version, fees, configured }, text: list('no limits are set', ['scope', 'from', ...feeLimits], rows) }
      },
    },
    ...orderCommands('fees'),
  },
}
