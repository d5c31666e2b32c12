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

/** gRPC's CANCELLED, DEADLINE_EXCEEDED (Portage's own deadline) and FAILED_PRECONDITION (no poller). */
const withoutWorkerCodes = [1, 4, 9]
/** gRPC's codes for an invalid page token: INVALID_ARGUMENT, or from a server with SQL also UNKNOWN and INTERNAL. */
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

/** True if no run was started, the last run has ended, or Temporal was wiped. */
export function isGone(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError
}

export function isUnavailable(error: unknown): boolean {
  const code = grpcCode(error)
  return code !== undefined && !withoutWorkerCodes.includes(code)
}

export function isAlreadyStarted(error: unknown): boolean {
  return error instanceof WorkflowExecutionAlreadyStartedError
}

export function isQueryRefused(error: unknown): boolean {
  return error instanceof QueryRejectedError || error instanceof QueryNotRegisteredError
}

export function isNamespaceMissing(error: unknown): boolean {
  return error instanceof NamespaceNotFoundError || isMissing(error)
}

/** Reads the error's text, because Temporal answers `not found` for a missing workflow too. */
function namesMissingNamespace(error: unknown): boolean {
  if (error instanceof NamespaceNotFoundError) return true
  const cause = serverWord(error)
  return isMissing(cause) && /^Namespace \S+ is not found/.test(isGrpcServiceError(cause) ? cause.details || cause.message : '')
}

export function isRefusedArgument(error: unknown): boolean {
  return unreadableCodes.includes(grpcCode(error) ?? 0)
}

/** gRPC's INVALID_ARGUMENT, RESOURCE_EXHAUSTED (also of rate limits), and OUT_OF_RANGE (of the SDK's core). */
const tooLargeCodes = [3, 8, 11]
const tooLargeWords = /size exceeds limit|larger than (max|\d)|length too large/i

/** True if the request or its answer was refused because it is too large. A retry would be refused too. */
export function isTooLarge(error: unknown): boolean {
  return isStatusTooLarge({ code: grpcCode(error) ?? 0, details: detailOf(error) })
}

export function isStatusTooLarge({ code, details }: { readonly code: number; readonly details: string }): boolean {
  return tooLargeCodes.includes(code) && tooLargeWords.test(details)
}

/** True for gRPC's NOT_FOUND, which only calls that bypass the SDK's methods throw. */
export function isMissing(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === notFoundCode
}

/** True if the error concerns every call: Temporal refuses the credentials or does not answer. */
export function isForAll(error: unknown): boolean {
  const cause = error instanceof RelayerError ? error.cause : error
  return refusalCode(cause) !== undefined || grpcCode(cause) === unavailable
}

export function isOfServer(error: unknown): boolean {
  return isGone(error) || isNamespaceMissing(error) || error instanceof ServiceError || isGrpcServiceError(error)
}

/** `malformed`: every run refuses the update. `full`: the next run accepts it. */
export function updateRefusal(error: unknown): { kind: 'malformed' | 'full'; detail: string } | undefined {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined
  if (!(cause instanceof ApplicationFailure)) return undefined
  if (cause.type === malformedUpdate) return { kind: 'malformed', detail: cause.message }
  return cause.type === runIsFull ? { kind: 'full', detail: cause.message } : undefined
}

export function detailOf(error: unknown): string {
  const cause = serverWord(error)
  return redactText(isGrpcServiceError(cause) ? cause.details || cause.message : error instanceof Error ? error.message : String(error))
}

export interface TemporalErrorCodes {
  readonly gone?: ErrorCode
  readonly unserved?: ErrorCode
}

/** Returns a RelayerError with one of `codes` or TEMPORAL_*. Other errors are returned unchanged. */
export function fromTemporal(error: unknown, codes: TemporalErrorCodes, facts: Facts = {}): unknown {
  if (error instanceof RelayerError) return error
  if (codes.gone && isGone(error)) return new RelayerError(codes.gone, { facts, cause: error })
  const refused = namesMissingNamespace(error) ? 'TEMPORAL_NAMESPACE' : refusalCode(error)
  const isCall = error instanceof ServiceError || isGrpcServiceError(error)
  const unanswered = codes.unserved && !isUnavailable(error) ? codes.unserved : isCall ? 'TEMPORAL_UNAVAILABLE' : undefined
  const code = refused ?? unanswered
  return code ? new RelayerError(code, { detail: detailOf(error), facts, cause: error }) : error
}

export function rethrowAs(codes: TemporalErrorCodes, facts?: Facts): (error: unknown) => never {
  return (error) => {
    throw fromTemporal(error, codes, facts)
  }
}

/** For `catch`: expected errors become `value`, all others are thrown. */
function ifError(isExpected: (error: unknown) => boolean) {
  return <Value>(value: Value) =>
    (error: unknown): Value => {
      if (isExpected(error)) return value
      throw error
    }
}

export const ifGone = ifError(isGone)
export const ifMissing = ifError(isMissing)
export const ifAlreadyStarted = ifError(isAlreadyStarted)
export const ifNamespaceMissing = ifError(isNamespaceMissing)
export const ifRefused = ifError((error) => refusalCode(error) !== undefined)
