import {
  isGrpcServiceError,
  QueryNotRegisteredError,
  QueryRejectedError,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowUpdateFailedError,
} from '@temporalio/client'
import { ApplicationFailure, NamespaceNotFoundError, WorkflowNotFoundError } from '@temporalio/common'
import { type ErrorCode, type Facts, RelayerError } from '../../../domain/catalogue/errors.ts'
import { redactText } from '../../../observability/redact.ts'
import { malformedUpdate, runIsFull } from '../../contracts/names.ts'

/** gRPC without a worker's answer: CANCELLED, DEADLINE_EXCEEDED (our deadline), FAILED_PRECONDITION (no poller). */
const withoutWorkerCodes = [1, 4, 9]
/** gRPC codes of an invalid page token: INVALID_ARGUMENT, or UNKNOWN or INTERNAL from a server on SQL. */
const unreadableCodes = [2, 3, 13]
const notFoundCode = 5
const unavailable = 14

const refusals: ReadonlyMap<number, ErrorCode> = new Map([
  [7, 'TEMPORAL_PERMISSION'],
  [16, 'TEMPORAL_API_KEY_REFUSED'],
])

function serverWord(error: unknown): unknown {
  return error instanceof ServiceError && !isGrpcServiceError(error) ? error.cause : error
}

function grpcCode(error: unknown): number | undefined {
  const cause = serverWord(error)
  return isGrpcServiceError(cause) ? cause.code : undefined
}

export function refusalCode(error: unknown): ErrorCode | undefined {
  return refusals.get(grpcCode(error) ?? 0)
}

/** Whether no workflow with this id takes signals, because none was started, it ended, or Temporal was wiped. */
export function isGone(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError
}

/** Whether the server failed. False if only the worker does not answer. */
export function isUnavailable(error: unknown): boolean {
  const code = grpcCode(error)
  return code !== undefined && !withoutWorkerCodes.includes(code)
}

export function isAlreadyStarted(error: unknown): boolean {
  return error instanceof WorkflowExecutionAlreadyStartedError
}

/** Whether the worker cannot replay the workflow, or the workflow has ended. */
export function isQueryRefused(error: unknown): boolean {
  return error instanceof QueryRejectedError || error instanceof QueryNotRegisteredError
}

export function isNamespaceMissing(error: unknown): boolean {
  return error instanceof NamespaceNotFoundError || isMissing(error)
}

/** The server answers `not found` also for a missing workflow, so only the error's text shows what is missing. */
function namesMissingNamespace(error: unknown): boolean {
  if (error instanceof NamespaceNotFoundError) return true
  const cause = serverWord(error)
  return isMissing(cause) && /^Namespace \S+ is not found/.test(isGrpcServiceError(cause) ? cause.details || cause.message : '')
}

export function isRefusedArgument(error: unknown): boolean {
  return unreadableCodes.includes(grpcCode(error) ?? 0)
}

/** Like `isGone`, but for gRPC errors, which calls outside the SDK's methods throw. */
export function isMissing(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === notFoundCode
}

/** Whether a call about any other workflow would fail in the same way. */
export function isForAll(error: unknown): boolean {
  const cause = error instanceof RelayerError ? error.cause : error
  return refusalCode(cause) !== undefined || grpcCode(cause) === unavailable
}

/** Whether the error comes from the server. Otherwise a history, or the answer of a worker, is unreadable. */
export function isOfServer(error: unknown): boolean {
  return isGone(error) || isNamespaceMissing(error) || error instanceof ServiceError || isGrpcServiceError(error)
}

/** Why an update was refused. `malformed`: it is always refused. `full`: the next run accepts it. */
export function updateRefusal(error: unknown): { kind: 'malformed' | 'full'; detail: string } | undefined {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined
  if (!(cause instanceof ApplicationFailure)) return undefined
  if (cause.type === malformedUpdate) return { kind: 'malformed', detail: cause.message }
  return cause.type === runIsFull ? { kind: 'full', detail: cause.message } : undefined
}

/** The server's text of an error, redacted, without the SDK's additions. */
export function detailOf(error: unknown): string {
  const cause = serverWord(error)
  return redactText(isGrpcServiceError(cause) ? cause.details || cause.message : error instanceof Error ? error.message : String(error))
}

/** Error codes to throw if the workflow is missing (`gone`) and if no worker answers (`unserved`). */
export interface TemporalErrorCodes {
  readonly gone?: ErrorCode
  readonly unserved?: ErrorCode
}

/**
 * Returns a RelayerError with one of `codes`, TEMPORAL_NAMESPACE, TEMPORAL_PERMISSION, TEMPORAL_API_KEY_REFUSED or
 * TEMPORAL_UNAVAILABLE. A missing worker has the code TEMPORAL_UNAVAILABLE if `unserved` is absent. Returns other
 * errors unchanged.
 */
export function fromTemporal(error: unknown, codes: TemporalErrorCodes, facts: Facts = {}): unknown {
  if (error instanceof RelayerError) return error
  if (codes.gone && isGone(error)) return new RelayerError(codes.gone, { facts, cause: error })
  if (namesMissingNamespace(error)) return new RelayerError('TEMPORAL_NAMESPACE', { detail: detailOf(error), facts, cause: error })
  const refused = refusalCode(error)
  if (refused) return new RelayerError(refused, { detail: detailOf(error), facts, cause: error })
  const byServer = error instanceof ServiceError || isGrpcServiceError(error)
  const code = codes.unserved && !isUnavailable(error) ? codes.unserved : byServer ? ('TEMPORAL_UNAVAILABLE' as const) : undefined
  return code ? new RelayerError(code, { detail: detailOf(error), facts, cause: error }) : error
}

/** For `catch`: throws the result of `fromTemporal`. */
export function rethrowAs(codes: TemporalErrorCodes, facts?: Facts): (error: unknown) => never {
  return (error) => {
    throw fromTemporal(error, codes, facts)
  }
}

/** For `catch`: returns `value` if the server refuses the call. Throws any other error. */
export function ifRefused<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (refusalCode(error)) return value
    throw error
  }
}

/** For `catch`: returns undefined if namespace or workflow is missing. Throws any other error. */
export function unlessMissing(error: unknown): undefined {
  if (!isNamespaceMissing(error)) throw error
}

/** For `catch`: returns `value` if the workflow is gone. Throws any other error. */
export function ifGone<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (isGone(error)) return value
    throw error
  }
}
