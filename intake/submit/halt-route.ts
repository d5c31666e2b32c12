import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { TransferRoute } from '../../domain/transfer/transfer.ts'

/** Contracts of a route contradict each other. */
export interface Mismatch extends TransferRoute {
  readonly code: ErrorCode
  readonly detail: string
}

/**
 * Halts a route after a contradiction that most nodes showed. If this throws, the caller must keep the route waiting.
 */
export type HaltRoute = (mismatch: Mismatch) => Promise<void>
