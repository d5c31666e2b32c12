import { commands } from '../../domain/catalogue/row.ts'
import type { Facts } from './facts.ts'
import type { Finding } from './finding.ts'

/** The provider gives no quote without its key, and none from or to a chain without a price. */
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
