import type { Proposed, SigningLimits } from '../../signing-port.ts'

/** A limit that a transaction would pass, by its name in the config. */
export interface Passed {
  readonly limit: keyof SigningLimits
  readonly value: bigint
  readonly allowed: bigint
}

/** The most that a transaction can cost beside the coins that it moves, wei. @param dataFee of an L2: it is in no transaction */
export function costOf({ gasLimit, maxFee }: Pick<Proposed, 'gasLimit' | 'maxFee'>, dataFee: bigint): bigint {
  return BigInt(gasLimit) * BigInt(maxFee) + dataFee
}

/** The first limit of a single transaction that this one passes. @param dataFee wei; 0 as long as it is not read: what passes a limit without it is refused without a read */
export function passedLimit(transaction: Proposed, dataFee: bigint, limits: SigningLimits): Passed | undefined {
  const { gasLimit, tip, value } = transaction
  const checks: readonly (readonly [keyof SigningLimits, bigint])[] = [
    ['maxGasPerTransaction', BigInt(gasLimit)],
    ['maxTipPerGasWei', BigInt(tip)],
    ['maxDataFeePerTransactionWei', dataFee],
    ['maxCostPerTransactionWei', costOf(transaction, dataFee)],
    ['maxPaymentWei', BigInt(value)],
  ]
  return checks.map(([limit, spent]) => passed(limit, spent, limits)).find((found) => found !== undefined)
}

/** Undefined if the value is within the limit, or there is none. */
export function passed(limit: keyof SigningLimits, value: bigint, limits: SigningLimits): Passed | undefined {
  const allowed = limits[limit]
  return allowed === undefined || value <= BigInt(allowed) ? undefined : { limit, value, allowed: BigInt(allowed) }
}
