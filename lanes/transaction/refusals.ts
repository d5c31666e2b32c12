import { RelayerError } from '../../domain/catalogue/errors.ts'

/** Why the signer of the lane did not sign: `call`: it never signs this call; `limit`: the transaction passes a limit of the config, and a cheaper one may not. */
export type SigningRefusal = 'call' | 'limit'

/** The limits that time lifts. */
const passing: readonly unknown[] = ['maxSpendingPerHourWei', 'maxSpendingPerDayWei']

/** A refusal of the signer; undefined: another error, after which the same may be signed later. */
export function signingRefusal(error: unknown): SigningRefusal | undefined {
  if (!(error instanceof RelayerError)) return undefined
  if (error.code === 'CALL_UNJUSTIFIED') return 'call'
  if (error.code !== 'SIGNING_REFUSED') return undefined
  return error.facts['limit'] === undefined ? 'call' : 'limit'
}

/** Is it for as long as this process lives? What was spent in the last hour or day falls, and so does what the chain charges for data, where that is a part of it. */
export function isLasting({ facts }: RelayerError): boolean {
  return !passing.includes(facts['limit']) && facts['dataFee'] === undefined
}
