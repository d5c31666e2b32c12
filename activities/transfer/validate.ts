import type { KeylessSteps, Passed, Stopped } from '../../temporal/contracts/transfer-steps.ts'
import { endpointOf, type StepDeps } from '../deps.ts'
import type { Refuse } from './refuse.ts'
import { admissionStep, deniedBy } from './restrictions.ts'

/** First wait for a condition that heals by itself, ms. */
const waitMs = 15_000

/**
 * Step 1: halts, then signatures, payload kind, emitter, target, asset, fee, then the deny-list. A verdict is about this message alone and stops no route:
 * whoever reaches Temporal can start a transfer with bytes of his own. What contradicts itself on the chains is found by the streams, which read them.
 * @param refuse what becomes of a transfer that these refuse
 */
export function createValidate(deps: Pick<StepDeps, 'bridges' | 'settings'>, refuse: Refuse): KeylessSteps['validate'] {
  return ({ transfer }) =>
    admissionStep(deps, transfer, async (): Promise<Passed | Stopped> => {
      const verdict = await endpointOf(deps, transfer).validate(transfer)
      if (verdict.kind === 'valid') {
        const denial = deniedBy(deps, transfer)
        return denial ? refuse(transfer, denial) : { kind: 'passed' }
      }
      const { kind, code, reason, awaitNewSignatures, unverified } = verdict
      if (kind === 'wait') return { kind: 'waiting', code, reason, retryInMs: waitMs, unverified }
      return refuse(transfer, { kind, code, reason, awaitNewSignatures })
    })
}
