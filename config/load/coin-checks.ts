import type { Problem } from './problems.ts'
import { type Chains, type Fields, map, unless } from './raw-tree.ts'
import { weiOf } from './values.ts'

export const either = 'Lower it, or raise the other.'

export function weiIn(value: unknown, absent = '0'): bigint {
  return BigInt(weiOf(String(value)) ?? absent)
}

/** Maximum payment that a key of the chain signs in one transaction, wei. */
export function highestPayment({ signing }: Fields): bigint {
  return weiIn(map(signing)['maxPaymentWei'], String(10n ** 19n))
}

/** The coins of a route's call must be a payment that the keys of its target may sign. */
export function checkCoins(path: string, { coins }: Fields, target: unknown, chains: Chains): Problem[] {
  const chain = typeof target === 'string' ? chains.get(target) : undefined
  if (!chain || coins === undefined) return []
  const isAllowed = weiIn(map(coins)['atMost']) <= highestPayment(chain)
  return unless(isAllowed, `${path}.coins.atMost`, `is above chains.${String(target)}.signing.maxPaymentWei`, either)
}
