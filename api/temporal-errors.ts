import type { ErrorCode, Facts } from '../domain/errors.ts'
import { fromTemporal as toCode } from '../temporal/client/errors.ts'

/** `fromTemporal` of temporal/client/errors.ts with the code of an unknown workflow. */
export function fromTemporal(error: unknown, gone: ErrorCode, facts: Facts = {}): unknown {
  return toCode(error, { gone }, facts)
}
