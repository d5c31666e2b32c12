import { type ErrorCode, RelayerError } from '../../domain/catalogue/errors.ts'
import type { PlannedDelivery, Verdict } from '../port.ts'

/** Error code → verdict about a message. An error with any other code says nothing about the message. */
export type Refusals = Partial<Record<ErrorCode, Omit<Exclude<Verdict, { kind: 'valid' }>, 'code' | 'reason'>>>

/**
 * Turns a refusal into a verdict. The verdict has the delivery that `check` resolves to. Rethrows errors that say
 * nothing about the message.
 */
export async function toVerdict(check: Promise<PlannedDelivery | void>, refusals: Refusals): Promise<Verdict> {
  try {
    const delivery = await check
    return delivery ? { kind: 'valid', delivery } : { kind: 'valid' }
  } catch (error) {
    if (!(error instanceof RelayerError)) throw error
    const { code, about, title } = error
    const refusal = refusals[code]
    if (!refusal) throw error
    return { ...refusal, code, reason: about || title }
  }
}
