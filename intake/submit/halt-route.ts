import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { BridgeName, ChainName } from '../../domain/transfer/transfer.ts'

/** Two contracts of a route contradict each other about a transfer. Honest contracts on honest chains never do. */
export interface Mismatch {
  readonly bridge: BridgeName
  readonly sourceChain: ChainName
  readonly targetChain: ChainName
  readonly code: ErrorCode
  readonly detail: string
}

/**
 * Halts only this route until `portage unhalt`. May be repeated. Call this only for contradictions that more than half
 * of the nodes showed, never for received bytes. Throws SETTINGS_UNREACHABLE, TEMPORAL_UNAVAILABLE; then the route must
 * wait.
 */
export type HaltRoute = (mismatch: Mismatch) => Promise<void>
