import type { Chain } from '../../chains/port.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { LocalBroadcastSteps, Ready } from '../../temporal/contracts/transfer-steps.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { endpointOf, type StepDeps } from '../deps.ts'
import type { NearLanes } from '../near-at-hand.ts'

/** Finality is near where a transaction of the next block is final within this time, ms. */
const nearFinalityMs = 10_000

/**
 * `broadcast` on the queue of the transfer's own workflow, where the server starts it with the answer to the workflow task: no trip through another queue. The same
 * step, with the same ledger, signer and limits of the key; lanes that the lane's queue of this process does not serve are not served here either.
 */
export function createBroadcastNear(near: NearLanes): LocalBroadcastSteps['broadcastLocally'] {
  return async (input) => {
    const lane = near.get(input.lane)
    // What may have been sent before goes through the lane's queue: it is tried until it has an end.
    if (!lane || input.mode !== 'new') return { kind: 'elsewhere' }
    const result = await lane.slots.runNear(transferId(input.transfer), () => lane.broadcast(input))
    return result === undefined || result.kind === 'no-slot' ? { kind: 'elsewhere' } : result
  }
}

/** Says of an admission that its transfer has a slot near at hand. It has none where finality is far, or where it waits for others to share a call with. */
export async function promiseNear(
  deps: Pick<StepDeps, 'bridges' | 'near'>,
  chain: Chain,
  transfer: Transfer,
  ready: Ready,
): Promise<Ready> {
  const lane = deps.near?.get(ready.lane)
  if (!lane || !isFinalityNear(chain) || endpointOf(deps, transfer).batches?.groupOf(transfer)) return ready
  return (await lane.slots.promise(transferId(transfer))) ? { ...ready, local: true } : ready
}

function isFinalityNear({ heads, msToFinality, blockTimeMs }: Chain): boolean {
  const height = heads.current?.latest.height
  return height !== undefined && blockTimeMs + msToFinality(height + 1) <= nearFinalityMs
}
