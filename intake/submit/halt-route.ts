import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { BridgeName, ChainName } from '../../domain/transfer/transfer.ts'

/** The two contracts of a route contradict each other about a transfer, which honest contracts on honest chains never do. */
export interface Mismatch {
  readonly bridge: BridgeName
  readonly sourceChain: ChainName
  readonly targetChain: ChainName
  readonly code: ErrorCode
  /** Which transfer, and what was read: shown to operators. */
  readonly detail: string
}

/**
 * Halts the route, and nothing else, until a person ends it (`portage unhalt`), and raises an alarm. Only for what was found by reads of our own on the
 * word of more than half of the nodes, never for bytes that somebody sent. Safe to repeat. Throws SETTINGS_UNREACHABLE, TEMPORAL_UNAVAILABLE:
 * the halt is not in force, so the caller tries again and lets nothing of the route go on before.
 */
export type HaltRoute = (mismatch: Mismatch) => Promise<void>
