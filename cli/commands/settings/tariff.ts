import type { Config } from '../../../config/schema/schema.ts'
import type { TariffRule } from '../../../domain/settings/tariff.ts'
import { tariffScopeText, tariffText } from '../../../operations/orders/scope-text.ts'
import { readSettings } from '../../../temporal/client/settings/settings.ts'
import type { CommandSpec } from '../../command.ts'
import { orderCommands } from '../../orders.ts'
import { list } from '../../output/output.ts'

export const tariffCommand: CommandSpec = {
  description:
    'The tariff of the token bridge, changed at runtime: tokens, minimum fees, worth of fees, free routes. The tariff of operators overrides the tariff in the config.',
  commands: {
    show: {
      description:
        'The whole tariff: the rules of operators and the rules in the config. For the same scope, the rule of an operator applies.',
      examples: ['portage tariff show --json'],
      run: async ({ withTemporal }) => {
        const [{ version, tariff }, configured] = await withTemporal(
          async (client, config) => [await readSettings(client), configuredTariff(config)] as const,
        )
        const row = ({ scope, tariff: own }: TariffRule, from: string) => ({ of: tariffScopeText(scope), from, tariff: tariffText(own) })
        const rows = [...tariff.map((rule) => row(rule, 'operator')), ...configured.map((rule) => row(rule, 'config'))]
        return { json: { version, tariff, configured }, text: list('there are no rules: transfers of the token bridge are declined', rows) }
      },
    },
    ...orderCommands('tariff'),
  },
}

function configuredTariff({ bridges }: Config): TariffRule[] {
  const settings = bridges['wormhole-token-bridge']
  if (!settings) return []
  const { assets = [], minimumFees, prices, freeRoutes } = settings
  const chains = [...new Set([...Object.keys(minimumFees), ...Object.keys(prices)])]
  return [
    ...assets.map((token): TariffRule => ({ scope: { kind: 'asset', token }, tariff: { delivered: true } })),
    ...chains.flatMap((chain) => {
      const [fees, values] = [minimumFees[chain] ?? {}, prices[chain] ?? {}]
      return [...new Set([...Object.keys(fees), ...Object.keys(values)])].map((token): TariffRule => ({
        scope: { kind: 'fee', chain, token },
        tariff: { minimumFee: fees[token], price: values[token] },
      }))
    }),
    ...freeRoutes.map(({ source, target }): TariffRule => ({ scope: { kind: 'route', source, target }, tariff: { free: true } })),
  ]
}
