import type { Config } from '../../../config/schema/schema.ts'
import type { TermRule } from '../../../domain/settings/terms.ts'
import { termScopeText, termsText } from '../../../operations/orders/scope-text.ts'
import { readSettings } from '../../../temporal/client/settings/settings.ts'
import type { CommandSpec } from '../../command.ts'
import { orderCommands } from '../../orders.ts'
import { list } from '../../output/output.ts'

export const termsCommand: CommandSpec = {
  description:
    'Terms of the token bridge, changed at runtime: tokens, minimum fees, values of fees, free routes. They override the config.',
  commands: {
    show: {
      description: 'All terms: those of operators and those of the config. For the same scope, the terms of operators apply.',
      examples: ['portage terms show --json'],
      run: async ({ withTemporal }) => {
        const [{ version, terms }, configured] = await withTemporal(
          async (client, config) => [await readSettings(client), configuredTerms(config)] as const,
        )
        const row = ({ scope, terms: own }: TermRule, from: string) => ({ of: termScopeText(scope), from, terms: termsText(own) })
        const rows = [...terms.map((rule) => row(rule, 'operator')), ...configured.map((rule) => row(rule, 'config'))]
        return { json: { version, terms, configured }, text: list('no terms are set: transfers of the token bridge are declined', rows) }
      },
    },
    ...orderCommands('terms'),
  },
}

function configuredTerms({ bridges }: Config): TermRule[] {
  const settings = bridges['wormhole-token-bridge']
  if (!settings) return []
  const { assets = [], minimumFees, prices, freeRoutes } = settings
  const chains = [...new Set([...Object.keys(minimumFees), ...Object.keys(prices)])]
  return [
    ...assets.map((token): TermRule => ({ scope: { kind: 'asset', token }, terms: { delivered: true } })),
    ...chains.flatMap((chain) => {
      const [fees, values] = [minimumFees[chain] ?? {}, prices[chain] ?? {}]
      return [...new Set([...Object.keys(fees), ...Object.keys(values)])].map((token): TermRule => ({
        scope: { kind: 'fee', chain, token },
        terms: { minimumFee: fees[token], price: values[token] },
      }))
    }),
    ...freeRoutes.map(({ source, target }): TermRule => ({ scope: { kind: 'route', source, target }, terms: { free: true } })),
  ]
}
