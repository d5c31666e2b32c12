import { isGrpcServiceError, ServiceError } from '@temporalio/client'
import { RelayerError, toRelayerError } from '../domain/errors.ts'
import { redactText } from '../observability/redact.ts'

/** What the Temporal client threw about a transfer: TEMPORAL_UNAVAILABLE if it is the server's, else what it was. */
export function fromTemporal(error: unknown, transfer: string): RelayerError {
  if (!(error instanceof ServiceError) && !isGrpcServiceError(error)) return toRelayerError(error)
  const cause = error instanceof ServiceError ? error.cause : error
  const detail = isGrpcServiceError(cause) ? cause.details : error.message
  return new RelayerError('TEMPORAL_UNAVAILABLE', { detail: redactText(detail), facts: { transfer }, cause: error })
}
