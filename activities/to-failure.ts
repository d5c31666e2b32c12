import { toRelayerError } from '../domain/catalogue/errors.ts'
import { redactText } from '../observability/redact.ts'
import { ApplicationFailure, TemporalFailure } from '@temporalio/common'

/** Of a failure in a history, characters. */
const longestMessage = 4_000

/** The only place where an error becomes a Temporal failure, of the type of its code and without secrets. What Temporal threw itself (cancellation) passes. */
export function toFailure(error: unknown): TemporalFailure {
  if (error instanceof TemporalFailure) return error
  const { code, message, retriable, facts } = toRelayerError(error)
  return ApplicationFailure.create({
    type: code,
    message: redactText(message.slice(0, longestMessage)),
    nonRetryable: !retriable,
    details: [facts],
  })
}

/** The same activity, throwing Temporal failures. */
export function guarded<A extends unknown[], R>(step: (...args: A) => Promise<R>): (...args: A) => Promise<R> {
  return async (...args) => {
    try {
      return await step(...args)
    } catch (error) {
      throw toFailure(error)
    }
  }
}
