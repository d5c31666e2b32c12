import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { BridgeName, ChainName } from '../../domain/transfer/transfer.ts'

export interface Mismatch {
  readonly bridge: BridgeName
  readonly sourceChain: ChainName
  readonly targetChain: ChainName
  readonly code: ErrorCode
  readonly detail: string
}

/**
 * Halts one route. Call this only for contradictions that most nodes showed, never for received bytes. If this throws
 * SETTINGS_UNREACHABLE or TEMPORAL_UNAVAILABLE, the caller must keep the route waiting.
 */
export type HaltRoute = (mismatch: Mismatch) => Promise<void>
