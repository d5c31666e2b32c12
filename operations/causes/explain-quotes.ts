import { commands } from '../../domain/catalogue/row.ts'
import type { Facts } from './facts.ts'
import type { Finding } from './finding.ts'

/** The provider gives no quote from or to a chain without a price. */
export function explainQuotes({ quotes }: Pick<Facts, 'quotes'>): Finding[] {
  const [first] = quotes?.missing ?? []
  if (!quotes || !first) return []
  const names = quotes.missing.map(({ name }) => name).join(', ')
  const what = `The Executor provider gives no quotes for requests from or to ${names}: ${first.why}`
  return [{ row: 'PRICE_MISSING', what, where: { kind: 'worker', id: 'executor' }, asOf: quotes.asOf, useless: [commands.show] }]
}
