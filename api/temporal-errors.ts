import { WorkflowNotFoundError } from '@temporalio/common'
import type { ErrorCode, Facts } from '../domain/errors.ts'
import { RelayerError } from '../domain/errors.ts'
import { unavailable } from '../temporal/client/errors.ts'

/**
 * What the Temporal client threw, as a RelayerError: an unknown workflow is `notFound`, a server that refuses or does not answer is
 * TEMPORAL_UNAVAILABLE. Everything else comes back as it is.
 */
export function fromTemporal(error: unknown, notFound: ErrorCode, facts: Facts = {}): unknown {
  if (error instanceof WorkflowNotFoundError) return new RelayerError(notFound, { facts, cause: error })
  return unavailable(error, facts) ?? error
}
