import type { Passed, Stopped } from '../temporal/steps.ts'
import type { Transfer } from '../domain/transfer.ts'
import type { StepDeps } from './deps.ts'
import { endpointOf } from './deps.ts'

/** Between two looks at a condition that heals by itself, ms. */
const waitMs = 15_000

/** Step 1: signatures, payload kind, emitter, target, asset, fee. */
export function createValidate(deps: Pick<StepDeps, 'bridges'>) {
  return async function validate({ transfer }: { transfer: Transfer }): Promise<Passed | Stopped> {
    const verdict = await endpointOf(deps, transfer).validate(transfer)
    if (verdict.kind === 'valid') return { kind: 'passed', ...(verdict.warnings.length > 0 && { warnings: [...verdict.warnings] }) }
    const { code, reason } = verdict
    return verdict.kind === 'wait' ? { kind: 'waiting', code, reason, retryInMs: waitMs } : { kind: verdict.kind, code, reason }
  }
}
