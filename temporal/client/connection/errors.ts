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
 * The server answers, no worker does. gRPC: CANCELLED and DEADLINE_EXCEEDED (our deadline), FAILED_PRECONDITION (no
 * worker polls the queue).
 */
const withoutWorkerCodes = [1, 4, 9]
/**
 * gRPC: INVALID_ARGUMENT; UNKNOWN and INTERNAL, which a server on SQL answers to a page token that is none of its own.
 */
const unreadableCodes = [2, 3, 13]
/** gRPC: NOT_FOUND, the answer of describeNamespace for a namespace that does not exist. */
const notFoundCode = 5
/** gRPC: UNAVAILABLE. */
const unavailableCodes = [14]

/** gRPC: PERMISSION_DENIED and UNAUTHENTICATED. */
const refusals: ReadonlyMap<number, ErrorCode> = new Map([
  [7, 'TEMPORAL_PERMISSION'],
  [16, 'TEMPORAL_API_KEY_REFUSED'],
])

/**
 * The error of gRPC that the SDK's client has wrapped. Calls past the SDK's methods (`workflowService`) throw it as it
 * is; that of a native connection then is taken for the client's wrapping, which has the same name. It has its text in
 * its message, and no details.
 */
function serverWord(error: unknown): unknown {
  return error instanceof ServiceError && !isGrpcServiceError(error) ? error.cause : error
}

/** The code of a call that the server refuses because of who we are; undefined if it does not. */
export function refusalCode(error: unknown): ErrorCode | undefined {
  const cause = serverWord(error)
  return isGrpcServiceError(cause) ? refusals.get(cause.code) : undefined
}

/** No workflow of this id takes signals and updates: it was never started, has ended, or Temporal was wiped. */
export function isGone(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError
}

/** The server refuses or cannot be reached. False where the server answers and no worker of the queue does. */
export function isUnavailable(error: unknown): boolean {
  const cause = serverWord(error)
  return isGrpcServiceError(cause) && !withoutWorkerCodes.includes(cause.code)
}

/** The id is taken, by a run that goes on or, where the reuse policy asks for it, by one that has ended. */
export function isAlreadyStarted(error: unknown): boolean {
  return error instanceof WorkflowExecutionAlreadyStartedError
}

/** Starts a workflow. False: its id is taken. Throws what the Temporal client throws. */
export async function startUnlessTaken(start: () => Promise<unknown>): Promise<boolean> {
  try {
    await start()
    return true
  } catch (error) {
    if (isAlreadyStarted(error)) return false
    throw error
  }
}

/** A worker answers and does not answer this query: it cannot replay the workflow, or the workflow has ended. */
export function isQueryRefused(error: unknown): boolean {
  return error instanceof QueryRejectedError || error instanceof QueryNotRegisteredError
}

/** The server has no such namespace. */
export function isNamespaceMissing(error: unknown): boolean {
  return error instanceof NamespaceNotFoundError || isMissing(error)
}

/**
 * The server says so of any call, also where its `not found` could be of a workflow. Calls past the methods of the SDK
 * have no class for it.
 */
function namesMissingNamespace(error: unknown): boolean {
  if (error instanceof NamespaceNotFoundError) return true
  const cause = serverWord(error)
  return isMissing(cause) && /^Namespace \S+ is not found/.test(isGrpcServiceError(cause) ? cause.details || cause.message : '')
}

/** The server could not read what the call asks for: a visibility query, or the token of a page. */
export function isRefusedArgument(error: unknown): boolean {
  const cause = serverWord(error)
  return isGrpcServiceError(cause) && unreadableCodes.includes(cause.code)
}

/** The same as `isGone`, of calls past the methods of the SDK. */
export function isMissing(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === notFoundCode
}

/** The server is away or refuses us, whatever workflow was asked. False: another workflow may answer. */
export function isForAll(error: unknown): boolean {
  const cause = error instanceof RelayerError ? error.cause : error
  const inner = serverWord(cause)
  return refusalCode(cause) !== undefined || (isGrpcServiceError(inner) && unavailableCodes.includes(inner.code))
}

/**
 * The server said it, or did not answer. False: what stands in the history of a workflow, or the answer of its worker,
 * cannot be read.
 */
export function isOfServer(error: unknown): boolean {
  return isGone(error) || isNamespaceMissing(error) || error instanceof ServiceError || isGrpcServiceError(error)
}

/**
 * `malformed`: the same request is refused again. `full`: this run ends, the next one takes the update. Undefined: it
 * is no refusal of an update.
 */
export function updateRefusal(error: unknown): { kind: 'malformed' | 'full'; detail: string } | undefined {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined
  if (!(cause instanceof ApplicationFailure)) return undefined
  if (cause.type === malformedUpdate) return { kind: 'malformed', detail: cause.message }
  return cause.type === runIsFull ? { kind: 'full', detail: cause.message } : undefined
}

/** The message of an error, without what the SDK adds to that of gRPC, and without secrets. */
export function detailOf(error: unknown): string {
  const cause = serverWord(error)
  return redactText(isGrpcServiceError(cause) ? cause.details || cause.message : error instanceof Error ? error.message : String(error))
}

/** Of a workflow that does not exist, and of everything else but a server that refuses or does not answer. */
export interface TemporalErrorCodes {
  readonly gone?: ErrorCode
  readonly unserved?: ErrorCode
}

/**
 * What the Temporal client threw, as a RelayerError where it has a code: one of `codes`, TEMPORAL_NAMESPACE,
 * TEMPORAL_PERMISSION, TEMPORAL_API_KEY_REFUSED or TEMPORAL_UNAVAILABLE. Without the code `unserved` a missing worker
 * is TEMPORAL_UNAVAILABLE too, and everything else comes back as it is.
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

/** For `catch`: throws what `fromTemporal` makes of the error. */
export function rethrowAs(codes: TemporalErrorCodes, facts?: Facts): (error: unknown) => never {
  return (error) => {
    throw fromTemporal(error, codes, facts)
  }
}

/** For `catch`: this value if the workflow is gone; every other error is thrown on. */
export function ifGone<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (isGone(error)) return value
    throw error
  }
}
