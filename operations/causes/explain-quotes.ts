import { commands } from '../../domain/catalogue/row.ts'
import type { Facts } from './facts.ts'
import type { Finding } from './finding.ts'

/**
 * Explains missing quotes. Without its key, the provider gives no quotes. Without the price of a chain, it gives no
 * quotes from or to this chain.
 */
export function explainQuotes({ quotes }: Pick<Facts, 'quotes'>): Finding[] {
  if (!quotes) return []
  const { asOf, missing, offline } = quotes
  const about = { where: { kind: 'worker', id: 'executor' }, asOf, useless: [commands.show] } as const
  const names = missing.map(({ name }) => name).join(', ')
  const of = 'The Executor provider gives no quotes'
  return [
    ...missing
      .slice(0, 1)
      .map(({ why }) => ({ ...about, row: 'PRICE_MISSING' as const, what: `${of} for requests from or to ${names}: ${why}` })),
    ...(offline === undefined
      ? []
      : [{ ...about, row: 'SIGNER_OFFLINE' as const, what: `${of}, because its key cannot sign: ${offline}` }]),
  ]
}
