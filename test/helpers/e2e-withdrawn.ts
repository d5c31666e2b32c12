import { until } from '../../lab/devnet/until.ts'
import type { ChainKey, Stage } from './e2e.ts'

/** Waits until the ledger knows of the cancel. Dear blocks before that would make the lane deliver the call. */
export function untilWithdrawn(stage: Stage, chain: ChainKey, nonce: number): Promise<unknown> {
  const look = async () => (await stage.lane(chain)).entries[nonce]?.fill === 'cancelled'
  return until(look, { timeoutMs: 60_000, what: `the ledger to know that nonce ${nonce} is cancelled` })
}
