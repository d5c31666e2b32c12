import type { KeylessSteps, Passed, Stopped } from '../../temporal/contracts/transfer-steps.ts'
import { endpointOf, type StepDeps } from '../deps.ts'
import { haltRouteOf } from './halt-on-mismatch.ts'
import { admissionStep, deniedBy } from './restrictions.ts'

/** First wait for a condition that heals by itself, ms. */
const waitMs = 15_000

/** Step 1: halts, then signatures, payload kind, emitter, target, asset, fee, then the deny-list. */
export function createValidate(deps: Pick<StepDeps, 'bridges' | 'settings' | 'haltRoute'>): KeylessSteps['validate'] {
  return ({ transfer }) =>
    admissionStep(deps, transfer, async (): Promise<Passed | Stopped> => {
      const verdict = await endpointOf(deps, transfer).validate(transfer)
      if (verdict.kind === 'valid') return deniedBy(deps, transfer) ?? { kind: 'passed' }
      const { kind, code, reason, haltRoute, awaitNewSignatures, unverified } = verdict
      if (haltRoute) {
        await haltRouteOf(deps, transfer, code, reason)
        return { kind: 'impossible', code, reason }
      }
      if (kind === 'wait') return { kind: 'waiting', code, reason, retryInMs: waitMs, unverified }
      return { kind, code, reason, awaitNewSignatures }
    })
}
