import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { BridgeName, ChainName } from '../../domain/transfer/transfer.ts'

/**
 * A contradiction between the two contracts of a route about a transfer. Honest contracts on honest chains never
 * contradict each other.
 */
export interface Mismatch {
  readonly bridge: BridgeName
  readonly sourceChain: ChainName
  readonly targetChain: ChainName
  readonly code: ErrorCode
  /** The transfer and the two answers, for operators. */
  readonly detail: string
}

/**
 * Halts only this route until an operator ends the halt (`portage unhalt`), and raises an alarm. Call it only for what
 * own reads found on the word of more than half of the nodes, never for received bytes. Safe to repeat. Throws
 * SETTINGS_UNREACHABLE, TEMPORAL_UNAVAILABLE: the halt is not in force, so the caller tries again and keeps the route
 * waiting.
 */
export type HaltRoute = (mismatch: Mismatch) => Promise<void>
