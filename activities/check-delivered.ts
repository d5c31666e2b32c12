import { laneAddress } from '../domain/lane-id.ts'
import type { Delivery, Transfer } from '../domain/transfer.ts'
import type { Passed, Stopped } from '../temporal/steps.ts'
import type { StepDeps } from './deps.ts'
import { chainOf, endpointOf, lanesOf } from './deps.ts'
import { haltedBy } from './gate.ts'

/** Step 2: is the effect there already, and is it final? */
export function createCheckDelivered(deps: StepDeps) {
  return async function checkDelivered({ transfer }: { transfer: Transfer }): Promise<Passed | Stopped> {
    const halted = haltedBy(deps, transfer)
    if (halted) return halted
    const there = await endpointOf(deps, transfer).delivered(transfer, 'latest')
    return there ? settled(deps, transfer) : { kind: 'passed' }
  }
}

/** The effect shows in the latest state: final, with who delivered, or how long until it can be. */
export async function settled(deps: StepDeps, transfer: Transfer): Promise<Extract<Stopped, { kind: 'delivered' | 'unsettled' }>> {
  const chain = chainOf(deps, transfer)
  if (await endpointOf(deps, transfer).delivered(transfer, 'finalized')) {
    return { kind: 'delivered', delivery: await foundDelivery(deps, transfer) }
  }
  return { kind: 'unsettled', finalInMs: Math.max(chain.blockTimeMs, chain.msToFinality(chain.heads.current?.latest.height ?? 0)) }
}

/** Who delivered, as the target chain's logs tell; a node that has pruned them leaves it open. */
export async function foundDelivery(deps: StepDeps, transfer: Transfer): Promise<Delivery> {
  const found = await endpointOf(deps, transfer).findDelivery(transfer)
  if (!found) return { ours: false }
  return { ...found, ours: lanesOf(deps, transfer).lanes.some((lane) => laneAddress(lane) === found.by) }
}
