import type { HeadEvent, Heads } from '../chains/port.ts'
import { laneAddress } from '../domain/lane-id.ts'
import type { ConfirmInput, Confirmation } from '../temporal/steps.ts'
import { foundDelivery } from './check-delivered.ts'
import type { StepDeps } from './deps.ts'
import { chainOf, endpointOf, lanesOf } from './deps.ts'

/** Step 5: the effect, on the target chain's word at finality. */
export function createConfirm(deps: StepDeps) {
  return async function confirm({ transfer, landed, waitMs }: ConfirmInput): Promise<Confirmation> {
    const chain = chainOf(deps, transfer)
    const endpoint = endpointOf(deps, transfer)
    let useless: string | undefined
    const soon = () => Math.max(chain.blockTimeMs, chain.msToFinality(landed?.blockHeight ?? chain.heads.current?.latest.height ?? 0))
    if (landed) {
      await finalizedTo(chain.heads, landed.blockHeight, waitMs)
      const receipt = await chain.receipt(landed.txHash)
      if (receipt && endpoint.hasEffect(receipt, transfer)) {
        if ((chain.heads.current?.finalized ?? 0) < receipt.block.height) return { kind: 'unsettled', finalInMs: soon() }
        const { hash: blockHash, height: blockHeight } = receipt.block
        const ours = lanesOf(deps, transfer).lanes.some((lane) => laneAddress(lane) === receipt.from)
        return {
          kind: 'delivered',
          delivery: { by: receipt.from, ours, txHash: receipt.hash, blockHeight, blockHash, gasPaid: landed.gasPaid },
        }
      }
      const final = receipt !== undefined && receipt.block.height <= (chain.heads.current?.finalized ?? -1)
      if (final) useless = `transaction ${receipt.hash} ${receipt.status === 'reverted' ? 'reverted' : 'had not the effect'}`
    }
    if (await endpoint.delivered(transfer, 'finalized')) return { kind: 'delivered', delivery: await foundDelivery(deps, transfer) }
    if (await endpoint.delivered(transfer, 'latest')) return { kind: 'unsettled', finalInMs: soon() }
    return useless ? { kind: 'reverted', reason: useless } : { kind: 'gone' }
  }
}

/** Resolves when the chain is final up to `height`, or after `waitMs`. */
function finalizedTo(heads: Heads, height: number, waitMs: number): Promise<void> {
  if ((heads.current?.finalized ?? 0) >= height || waitMs === 0) return Promise.resolve()
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer)
      unsubscribe()
      resolve()
    }
    const timer = setTimeout(finish, waitMs)
    const unsubscribe = heads.subscribe((event: HeadEvent) => {
      if (event.finalized >= height) finish()
    })
  })
}
