import type { AdmitInput, Admission } from '../../temporal/contracts/transfer-steps.ts'
import { settled } from './check-delivered.ts'
import { chooseLane } from './choose-lane.ts'
import { admissionStep } from './admission-step.ts'
import type { StepDeps } from '../deps.ts'
import { showsEffect } from './halt-on-mismatch.ts'
import { judge, priceDelivery, unchosen } from './prepare.ts'
import { createValidate } from './validate.ts'

/** Steps 1-3 at once, as one local activity: their chain reads leave together, in one batch. What is halted waits before any of them. */
export function createAdmit(deps: StepDeps) {
  const validate = createValidate(deps)
  return async function admit(input: AdmitInput): Promise<Admission> {
    const { transfer } = input
    return admissionStep(deps, transfer, async (reserve): Promise<Admission> => {
      const validated = await validate({ transfer })
      if (validated.kind !== 'passed') return validated
      const choice = await chooseLane(deps, input, reserve)
      const there = showsEffect(deps, transfer, input.disputed)
      if (choice.kind !== 'lane') return (await there) ? settled(deps, transfer) : unchosen(deps, input, choice)
      const { lane } = choice
      const [delivered, priced] = await Promise.all([there, priceDelivery(deps, input, lane)])
      if (delivered) return settled(deps, transfer)
      return judge(deps, input, lane, priced)
    })
  }
}
