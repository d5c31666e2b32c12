import type { Proposed, SigningLimits } from '../../port.ts'

/** A limit that a transaction would pass, by its name in the config. */
export interface Passed {
  readonly limit: keyof SigningLimits
  readonly value: bigint
  readonly allowed: bigint
}

/** The most that a transaction can cost beside the coins that it moves, wei. The data fee of an L2 is in no transaction. */
export function costOf({ gasLimit, maxFee }: Pick<Proposed, 'gasLimit' | 'maxFee'>): bigint {
  return BigInt(gasLimit) * BigInt(maxFee)
}

/** The first limit of a single transaction that this one passes. */
export function passedLimit(transaction: Proposed, limits: SigningLimits): Passed | undefined {
  const { gasLimit, tip, value } = transaction
  const checks: readonly (readonly [keyof SigningLimits, bigint])[] = [
    ['maxGasPerTransaction', BigInt(gasLimit)],
    ['maxTipPerGasWei', BigInt(tip)],
    ['maxCostPerTransactionWei', costOf(transaction)],
    ['maxPaymentWei', BigInt(value)],
  ]
  return checks.map(([limit, spent]) => passed(limit, spent, limits)).find((found) => found !== undefined)
}

/** Undefined if the value is within the limit, or there is none. */
export function passed(limit: keyof SigningLimits, value: bigint, limits: SigningLimits): Passed | undefined {
  const allowed = limits[limit]
  return allowed === undefined || value <= BigInt(allowed) ? undefined : { limit, value, allowed: BigInt(allowed) }
}
