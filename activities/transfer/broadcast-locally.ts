import type { Chain } from '../../chains/port.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { LocalBroadcastSteps, Ready } from '../../temporal/contracts/transfer-steps.ts'
import { endpointOf, type LocalLanes, type StepDeps } from '../deps.ts'

/** Finality is fast if a transaction of the next block is final within this time, ms. */
const fastFinalityMs = 10_000

/**
 * `broadcast` on the queue of the transfer's own workflow: the server starts it with the answer to the workflow task.
 * It is the same step, with the same ledger, signer and limits.
 */
export function createBroadcastLocally(lanes: LocalLanes): LocalBroadcastSteps['broadcastLocally'] {
  return async (input) => {
    const lane = lanes.get(input.lane)
    // A transaction that may have been sent before is followed on the lane's queue, which retries until it has an end.
    if (!lane || input.mode !== 'new') return { kind: 'elsewhere' }
    const result = await lane.slots.runLocal(transferId(input.transfer), () => lane.broadcast(input))
    return result === undefined || result.kind === 'no-slot' ? { kind: 'elsewhere' } : result
  }
}

/** Promises a local slot to an admitted transfer if its lane is here, finality is fast and it shares no call. */
export async function promiseSlot(
  deps: Pick<StepDeps, 'bridges' | 'localLanes'>,
  chain: Chain,
  transfer: Transfer,
  ready: Ready,
): Promise<Ready> {
  const lane = deps.localLanes?.get(ready.lane)
  if (!lane || !isFinalityFast(chain) || endpointOf(deps, transfer).batches?.groupOf(transfer)) return ready
  return (await lane.slots.promise(transferId(transfer))) ? { ...ready, local: true } : ready
}

function isFinalityFast({ heads, msToFinality, blockTimeMs }: Chain): boolean {
  const height = heads.current?.latest.height
  return height !== undefined && blockTimeMs + msToFinality(height + 1) <= fastFinalityMs
}
