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

/**
 * The server answers, and no worker does. gRPC: CANCELLED and DEADLINE_EXCEEDED (our deadline), FAILED_PRECONDITION (no
 * worker polls the queue).
 */
const withoutWorkerCodes = [1, 4, 9]
/** gRPC: INVALID_ARGUMENT; also UNKNOWN and INTERNAL, the answers of a server on SQL to an invalid page token. */
const unreadableCodes = [2, 3, 13]
/** gRPC: NOT_FOUND, the answer of describeNamespace without such a namespace. */
const notFoundCode = 5
/** gRPC: UNAVAILABLE. */
const unavailableCodes = [14]

/** gRPC: PERMISSION_DENIED and UNAUTHENTICATED. */
const refusals: ReadonlyMap<number, ErrorCode> = new Map([
  [7, 'TEMPORAL_PERMISSION'],
  [16, 'TEMPORAL_API_KEY_REFUSED'],
])

/**
 * The gRPC error in an error of the SDK's client. Calls outside the SDK's methods (`workflowService`) throw it
 * unwrapped. That of a native connection has the name of the client's wrapper, its text in the message, and no details.
 */
function serverWord(error: unknown): unknown {
  return error instanceof ServiceError && !isGrpcServiceError(error) ? error.cause : error
}

/** The code for rejected credentials. Undefined for any other error. */
export function refusalCode(error: unknown): ErrorCode | undefined {
  const cause = serverWord(error)
  return isGrpcServiceError(cause) ? refusals.get(cause.code) : undefined
}

/** No workflow with this id takes signals and updates: it was never started, has ended, or Temporal was wiped. */
export function isGone(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError
}

/** The server refuses the call or cannot be reached. False where only the worker does not answer. */
export function isUnavailable(error: unknown): boolean {
  const cause = serverWord(error)
  return isGrpcServiceError(cause) && !withoutWorkerCodes.includes(cause.code)
}

/** The id is taken by an open run or, depending on the reuse policy, by a closed one. */
export function isAlreadyStarted(error: unknown): boolean {
  return error instanceof WorkflowExecutionAlreadyStartedError
}

/** Starts a workflow. False: the id is taken. */
export async function startUnlessTaken(start: () => Promise<unknown>): Promise<boolean> {
  try {
    await start()
    return true
  } catch (error) {
    if (isAlreadyStarted(error)) return false
    throw error
  }
}

/** A worker answers, and cannot answer this query: it cannot replay the workflow, or the workflow has ended. */
export function isQueryRefused(error: unknown): boolean {
  return error instanceof QueryRejectedError || error instanceof QueryNotRegisteredError
}

/** The server has no such namespace. */
export function isNamespaceMissing(error: unknown): boolean {
  return error instanceof NamespaceNotFoundError || isMissing(error)
}

/** Like `isNamespaceMissing`, for calls whose `not found` may mean a workflow. The text of the error decides. */
function namesMissingNamespace(error: unknown): boolean {
  if (error instanceof NamespaceNotFoundError) return true
  const cause = serverWord(error)
  return isMissing(cause) && /^Namespace \S+ is not found/.test(isGrpcServiceError(cause) ? cause.details || cause.message : '')
}

/** The server could not read a visibility query or the token of a page. */
export function isRefusedArgument(error: unknown): boolean {
  const cause = serverWord(error)
  return isGrpcServiceError(cause) && unreadableCodes.includes(cause.code)
}

/** Like `isGone`, for calls outside the SDK's methods. */
export function isMissing(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === notFoundCode
}

/** The server is away or rejects the credentials, so every call fails. False: another workflow may answer. */
export function isForAll(error: unknown): boolean {
  const cause = error instanceof RelayerError ? error.cause : error
  const inner = serverWord(cause)
  return refusalCode(cause) !== undefined || (isGrpcServiceError(inner) && unavailableCodes.includes(inner.code))
}

/** The error comes from the server. False: the history of a workflow, or the answer of its worker, is unreadable. */
export function isOfServer(error: unknown): boolean {
  return isGone(error) || isNamespaceMissing(error) || error instanceof ServiceError || isGrpcServiceError(error)
}

/**
 * `malformed`: a repetition is refused too. `full`: the run ends, and the next one takes the update. Undefined: not a
 * refused update.
 */
export function updateRefusal(error: unknown): { kind: 'malformed' | 'full'; detail: string } | undefined {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined
  if (!(cause instanceof ApplicationFailure)) return undefined
  if (cause.type === malformedUpdate) return { kind: 'malformed', detail: cause.message }
  return cause.type === runIsFull ? { kind: 'full', detail: cause.message } : undefined
}

/** The message of an error without the SDK's additions, redacted. */
export function detailOf(error: unknown): string {
  const cause = serverWord(error)
  return redactText(isGrpcServiceError(cause) ? cause.details || cause.message : error instanceof Error ? error.message : String(error))
}

/** Codes for a missing workflow (`gone`) and for a missing worker (`unserved`). */
export interface TemporalErrorCodes {
  readonly gone?: ErrorCode
  readonly unserved?: ErrorCode
}

/**
 * Converts an error of the Temporal client to a RelayerError: with one of `codes`, TEMPORAL_NAMESPACE,
 * TEMPORAL_PERMISSION, TEMPORAL_API_KEY_REFUSED or TEMPORAL_UNAVAILABLE. Without the code `unserved` a missing worker
 * is TEMPORAL_UNAVAILABLE. Any other error is returned as it is.
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

/** For `catch`: returns a value if the workflow is gone, and throws any other error. */
export function ifGone<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (isGone(error)) return value
    throw error
  }
}
