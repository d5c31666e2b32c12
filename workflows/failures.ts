import { type ErrorCode, knownCode } from '../domain/catalogue/errors.ts'
import { ApplicationFailure, TimeoutFailure } from '@temporalio/workflow'

/** The message of a failed activity itself, without the server's wrapping. */
export function failureText(error: unknown): string {
  const failure = cause(error)
  return failure instanceof Error ? failure.message : String(failure)
}

/** The code of a failed activity, which travels as its failure's type. */
export function codeOf(error: unknown): ErrorCode {
  const failure = cause(error)
  return knownCode(failure instanceof ApplicationFailure ? failure.type : undefined)
}

/** True if no worker took the activity in the time that it may wait in its queue. */
export function timedOutInQueue(error: unknown): boolean {
  const failure = cause(error)
  return failure instanceof TimeoutFailure && failure.timeoutType === 'SCHEDULE_TO_START'
}

function cause(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? error.cause : error
}
