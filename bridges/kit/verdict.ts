import { type ErrorCode, RelayerError } from '../../domain/catalogue/errors.ts'
import type { PlannedDelivery, Verdict } from '../port.ts'

export type Refusal = Exclude<Verdict, { kind: 'valid' }>

/** Error code → verdict about a message. An error with any other code says nothing about the message. */
export type Refusals = Partial<Record<ErrorCode, Omit<Refusal, 'code' | 'reason'>>>

/** Resolves to the verdict of a refusal. Throws other errors. */
export async function unlessRefused<T>(check: Promise<T>, refusals: Refusals): Promise<T | Refusal> {
  try {
    return await check
  } catch (error) {
    const refusal = error instanceof RelayerError && refusals[error.code]
    if (!refusal) throw error
    const { code, about, title, ofConfig } = error
    return { ...refusal, code, reason: about || title, ...(ofConfig && { ofConfig }) }
  }
}

/** Resolves to `valid` with the delivery, or to the verdict of a refusal. Throws other errors. */
export function toVerdict(check: Promise<PlannedDelivery | void>, refusals: Refusals): Promise<Verdict> {
  const verdict = check.then((delivery): Verdict => (delivery ? { kind: 'valid', delivery } : { kind: 'valid' }))
  return unlessRefused(verdict, refusals)
}
