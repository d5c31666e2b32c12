import { until } from '../../lab/devnet/until.ts'
import type { ChainKey, Stage } from './e2e.ts'

/**
 * Waits until the ledger knows of the cancel. If the base fee rose before that, the lane would raise the call's fee,
 * and the call would be mined.
 */
export function untilWithdrawn(stage: Stage, chain: ChainKey, nonce: number): Promise<unknown> {
  const look = async () => (await stage.lane(chain)).entries[nonce]?.fill === 'cancelled'
  return until(look, { timeoutMs: 60_000, what: `the ledger to know that nonce ${nonce} is cancelled` })
}
