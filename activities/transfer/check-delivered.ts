import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { KeylessSteps, Stopped } from '../../temporal/contracts/transfer-steps.ts'
import { chainOf, endpointOf, type StepDeps } from '../deps.ts'
import { finalDelivery } from './delivery-checks.ts'
import { showsEffect } from './halt-on-mismatch.ts'
import { admissionStep } from './restrictions.ts'

/** Step 2: is the effect there already, and is it final? */
export function createCheckDelivered(deps: StepDeps): KeylessSteps['checkDelivered'] {
  return ({ transfer, disputed }) =>
    admissionStep(deps, transfer, async () =>
      (await showsEffect(deps, transfer, disputed)) ? settled(deps, transfer) : { kind: 'passed' },
    )
}

/** The latest state shows the effect: final, with who delivered, or how long until that can be said. */
export async function settled(deps: StepDeps, transfer: Transfer): Promise<Extract<Stopped, { kind: 'delivered' | 'unsettled' }>> {
  const chain = chainOf(deps, transfer)
  const finalized = await endpointOf(deps, transfer).delivered(transfer, 'finalized')
  const delivery = finalized ? await finalDelivery(deps, transfer) : undefined
  if (delivery) return { kind: 'delivered', delivery }
  return { kind: 'unsettled', finalInMs: Math.max(chain.blockTimeMs, chain.msToFinality(chain.heads.current?.latest.height ?? 0)) }
}
