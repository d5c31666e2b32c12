import { type ErrorCode, RelayerError } from '../../domain/catalogue/errors.ts'
import type { Verdict } from '../port.ts'

/** What each code means for the message that a check refused. Other codes say nothing about the message. */
export type Refusals = Partial<Record<ErrorCode, Omit<Exclude<Verdict, { kind: 'valid' }>, 'code' | 'reason'>>>

/** Runs checks that throw what they refuse. Errors that are no verdict on the message (a node is down) are thrown on. */
export async function toVerdict(check: () => Promise<unknown>, refusals: Refusals): Promise<Verdict> {
  try {
    await check()
    return { kind: 'valid' }
  } catch (error) {
    if (!(error instanceof RelayerError)) throw error
    const { code, about, title } = error
    const refusal = refusals[code]
    if (!refusal) throw error
    return { ...refusal, code, reason: about || title }
  }
}
