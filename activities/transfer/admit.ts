import type { KeylessSteps } from '../../temporal/contracts/transfer-steps.ts'
import { chainOf, type StepDeps } from '../deps.ts'
import { promiseNear } from './broadcast-near.ts'
import { showsEffect } from './halt-on-mismatch.ts'
import { prepareUnless } from './prepare.ts'
import type { Refuse } from './refuse.ts'
import { admissionStep } from './restrictions.ts'
import { createValidate } from './validate.ts'

/** Steps 1-3 at once, as one local activity: their chain reads leave together, in one batch. What is halted waits before any of them. */
export function createAdmit(deps: StepDeps, refuse: Refuse): KeylessSteps['admit'] {
  const validate = createValidate(deps, refuse)
  return (input) =>
    admissionStep(deps, input.transfer, async (reserve) => {
      const validated = await validate(input)
      if (validated.kind !== 'passed') return validated
      const admission = await prepareUnless(() => showsEffect(deps, input.transfer, input.disputed), deps, input, reserve)
      if (admission.kind !== 'ready') return admission
      const ready = await promiseNear(deps, chainOf(deps, input.transfer), input.transfer, admission)
      deps.stepTimes?.reached('admitted', input.transfer, input.startedAt)
      return ready
    })
}
