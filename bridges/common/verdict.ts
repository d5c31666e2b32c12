import { type ErrorCode, RelayerError } from '../../domain/errors.ts'
import type { Verdict } from '../port.ts'

/** What a verdict says beside its code and reason. */
type Refusal = Omit<Exclude<Verdict, { kind: 'valid' }>, 'code' | 'reason'>

/** What each code means for the message that a check refused. Other codes say nothing about the message. */
export type Refusals = Partial<Record<ErrorCode, Refusal>>

/** Runs checks that throw what they refuse. Errors that are no verdict on the message (a node is down) are thrown on. */
export async function toVerdict(check: () => Promise<unknown>, refusals: Refusals): Promise<Verdict> {
  try {
    await check()
    return { kind: 'valid' }
  } catch (error) {
    const refusal = error instanceof RelayerError ? refusals[error.code] : undefined
    if (refusal === undefined) throw error
    const { code, about, title } = error as RelayerError
    return { ...refusal, code, reason: about || title }
  }
}
