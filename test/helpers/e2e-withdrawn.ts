import { until } from '../../lab/devnet/until.ts'
import type { ChainKey, Stage } from './e2e.ts'

/**
 * Resolves when the ledger of a chain's first lane knows that the call at this nonce was cancelled. Before that, blocks
 * that are too dear for the call make the lane raise its fee, and it is delivered.
 */
export function untilWithdrawn(stage: Stage, chain: ChainKey, nonce: number): Promise<unknown> {
  const look = async () => (await stage.lane(chain)).entries[nonce]?.fill === 'cancelled'
  return until(look, { timeoutMs: 60_000, what: `the ledger to know that nonce ${nonce} is cancelled` })
}
