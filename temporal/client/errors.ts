import { isGrpcServiceError, ServiceError } from '@temporalio/client'
import type { Facts } from '../../domain/errors.ts'
import { RelayerError, toRelayerError } from '../../domain/errors.ts'
import { redactText } from '../../observability/redact.ts'

/** What the Temporal client threw about a transfer: TEMPORAL_UNAVAILABLE if it is the server's, else what it was. */
export function fromTemporal(error: unknown, transfer: string): RelayerError {
  return unavailable(error, { transfer }) ?? toRelayerError(error)
}

/** TEMPORAL_UNAVAILABLE for what a server said that refuses or does not answer; undefined for everything else. */
export function unavailable(error: unknown, facts: Facts): RelayerError | undefined {
  if (!(error instanceof ServiceError) && !isGrpcServiceError(error)) return undefined
  const cause = error instanceof ServiceError ? error.cause : error
  const detail = isGrpcServiceError(cause) ? cause.details : error.message
  return new RelayerError('TEMPORAL_UNAVAILABLE', { detail: redactText(detail), facts, cause: error })
}
