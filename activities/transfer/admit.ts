import type { AdmitInput, Admission } from '../../temporal/contracts/transfer-steps.ts'
import type { StepDeps } from '../deps.ts'
import { showsEffect } from './halt-on-mismatch.ts'
import { prepareUnless } from './prepare.ts'
import { admissionStep } from './restrictions.ts'
import { createValidate } from './validate.ts'

/** Steps 1-3 at once, as one local activity: their chain reads leave together, in one batch. What is halted waits before any of them. */
export function createAdmit(deps: StepDeps) {
  const validate = createValidate(deps)
  return async function admit(input: AdmitInput): Promise<Admission> {
    const { transfer, disputed } = input
    return admissionStep(deps, transfer, async (reserve): Promise<Admission> => {
      const validated = await validate({ transfer })
      if (validated.kind !== 'passed') return validated
      return prepareUnless(() => showsEffect(deps, transfer, disputed), deps, input, reserve)
    })
  }
}
