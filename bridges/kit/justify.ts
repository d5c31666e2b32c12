import { type Facts, RelayerError } from '../../domain/catalogue/errors.ts'
import type { Refusals } from './verdict.ts'

/** The error of a call that no message justifies. */
export function unjustified(detail: string, facts: Facts, cause?: unknown): RelayerError {
  return new RelayerError('CALL_UNJUSTIFIED', { detail, facts, cause })
}

/** Runs a check of a message that a call carries: what rejects the message makes the call CALL_UNJUSTIFIED. What waits, and what reads throw, is thrown on. */
export async function justifiedBy<T>(check: () => Promise<T>, refusals: Refusals): Promise<T> {
  try {
    return await check()
  } catch (error) {
    if (!(error instanceof RelayerError) || refusals[error.code]?.kind !== 'rejected') throw error
    throw unjustified(`${error.code}: ${error.title}`, error.facts, error)
  }
}
