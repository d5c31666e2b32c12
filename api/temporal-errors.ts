import { isGrpcServiceError, ServiceError } from '@temporalio/client'
import { WorkflowNotFoundError } from '@temporalio/common'
import type { ErrorCode, Facts } from '../domain/errors.ts'
import { RelayerError } from '../domain/errors.ts'
import { redactText } from '../observability/redact.ts'

/**
 * What the Temporal client threw, as a RelayerError: an unknown workflow is `notFound`, a server that refuses or does not answer is
 * TEMPORAL_UNAVAILABLE. Everything else comes back as it is.
 */
export function fromTemporal(error: unknown, notFound: ErrorCode, facts: Facts = {}): unknown {
  if (error instanceof WorkflowNotFoundError) return new RelayerError(notFound, { facts, cause: error })
  if (!(error instanceof ServiceError) && !isGrpcServiceError(error)) return error
  const cause = error instanceof ServiceError ? error.cause : error
  const detail = isGrpcServiceError(cause) ? cause.details : error.message
  return new RelayerError('TEMPORAL_UNAVAILABLE', { detail: redactText(detail), facts, cause: error })
}
