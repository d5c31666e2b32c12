import { errorCatalogue } from '../domain/errors.ts'
import type { ErrorCode } from '../domain/errors.ts'
import { ApplicationFailure, TimeoutFailure } from '@temporalio/workflow'

/** What a failed activity said: its own words, not the server's about it. */
export function failureText(error: unknown): string {
  const said = cause(error)
  return said instanceof Error ? said.message : String(said)
}

/** The code of a failed activity, which travels as its failure's type. */
export function codeOf(error: unknown): ErrorCode {
  const said = cause(error)
  const type = said instanceof ApplicationFailure ? said.type : undefined
  return type && type in errorCatalogue ? (type as ErrorCode) : 'INTERNAL'
}

/** Did no worker take the activity in the time that it may wait in its queue? */
export function timedOutInQueue(error: unknown): boolean {
  const said = cause(error)
  return said instanceof TimeoutFailure && said.timeoutType === 'SCHEDULE_TO_START'
}

function cause(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? error.cause : error
}
