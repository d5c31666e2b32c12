import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { TransferRoute } from '../../domain/transfer/transfer.ts'

/** Contracts of a route contradict each other. */
export interface Mismatch extends TransferRoute {
  readonly code: ErrorCode
  readonly detail: string
}

/**
 * Halts one route. Call this only for contradictions that most nodes showed, never for received bytes. If this throws
 * SETTINGS_UNREACHABLE or TEMPORAL_UNAVAILABLE, the caller must keep the route waiting.
 */
export type HaltRoute = (mismatch: Mismatch) => Promise<void>
