import { type ErrorCode, knownCode } from '../domain/catalogue/errors.ts'
import { ApplicationFailure, TimeoutFailure } from '@temporalio/workflow'

/** Without the server's wrapping. */
export function failureText(error: unknown): string {
  const failure = cause(error)
  return failure instanceof Error ? failure.message : String(failure)
}

/** The type of the failure. */
export function codeOf(error: unknown): ErrorCode {
  const failure = cause(error)
  return knownCode(failure instanceof ApplicationFailure ? failure.type : undefined)
}

export function timedOutInQueue(error: unknown): boolean {
  const failure = cause(error)
  return failure instanceof TimeoutFailure && failure.timeoutType === 'SCHEDULE_TO_START'
}

function cause(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? error.cause : error
}
