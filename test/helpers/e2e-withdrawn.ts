import { until } from '../../lab/devnet/until.ts'
import type { ChainKey, Stage } from './e2e.ts'

/**
 * Resolves when the ledger of a chain's first lane knows that the call at `nonce` was cancelled. Expensive blocks
 * before that would make the lane raise the call's fee and deliver it.
 */
export function untilWithdrawn(stage: Stage, chain: ChainKey, nonce: number): Promise<unknown> {
  const look = async () => (await stage.lane(chain)).entries[nonce]?.fill === 'cancelled'
  return until(look, { timeoutMs: 60_000, what: `the ledger to know that nonce ${nonce} is cancelled` })
}
