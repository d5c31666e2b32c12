import type { KeylessSteps, Passed, Stopped } from '../../temporal/contracts/transfer-steps.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { settled, showsEffect } from '../checks/effect.ts'
import { admissionStep, deniedBy } from '../checks/restrictions.ts'
import { chainOf, endpointOf, type StepDeps } from '../deps.ts'
import { promiseSlot } from './broadcast.ts'
import { prepareUnless } from './prepare.ts'
import type { Refuse } from './refuse.ts'

const waitMs = 15_000

/** Steps 1-3 as one local activity: their chain reads leave together. A halted transfer waits before any of them. */
export function createAdmit(deps: StepDeps, refuse: Refuse): KeylessSteps['admit'] {
  return (input) =>
    admissionStep(deps, input.transfer, async (reserve) => {
      const { transfer } = input
      const validated = await validate(deps, refuse, transfer)
      if (validated.kind !== 'passed') return validated
      const admission = await prepareUnless(() => showsEffect(deps, transfer, input.disputed), deps, input, reserve)
      if (admission.kind !== 'ready') return admission
      const ready = await promiseSlot(deps, chainOf(deps, transfer), transfer, admission)
      deps.stepTimes?.reached('admitted', transfer, input.startedAt)
      return ready
    })
}

/** Step 1 as a durable activity. @param refuse decides the end of a transfer that does not pass */
export function createValidate(deps: Pick<StepDeps, 'bridges' | 'settings'>, refuse: Refuse): KeylessSteps['validate'] {
  return ({ transfer }) => admissionStep(deps, transfer, () => validate(deps, refuse, transfer))
}

export function createCheckDelivered(deps: StepDeps): KeylessSteps['checkDelivered'] {
  return ({ transfer, disputed }) =>
    admissionStep(deps, transfer, async () =>
      (await showsEffect(deps, transfer, disputed)) ? settled(deps, transfer) : { kind: 'passed' },
    )
}

/** Halts no route: anyone who reaches Temporal can send forged bytes. Streams find contradictions on the chains. */
async function validate(deps: Pick<StepDeps, 'bridges' | 'settings'>, refuse: Refuse, transfer: Transfer): Promise<Passed | Stopped> {
  const verdict = await endpointOf(deps, transfer).validate(transfer)
  if (verdict.kind === 'valid') {
    const denial = deniedBy(deps, transfer)
    return denial ? refuse(transfer, denial) : { kind: 'passed' }
  }
  const { kind, code, reason, awaitNewSignatures, unverified } = verdict
  if (kind === 'wait') return { kind: 'waiting', code, reason, retryInMs: waitMs, unverified }
  return refuse(transfer, { kind, code, reason, awaitNewSignatures })
}
