import type { AuditSteps } from '../temporal/audit.ts'
import type { Withdraw } from '../lanes/withdrawals.ts'
import type { ErrandSteps } from '../temporal/errand.ts'
import type { KeylessSteps, LaneSteps } from '../temporal/steps.ts'
import type { BroadcastDeps } from './acquire.ts'
import { createAdmit } from './admit.ts'
import type { AuditDeps } from './audit-delivered.ts'
import { createAuditDelivered } from './audit-delivered.ts'
import { createBroadcast } from './broadcast.ts'
import { createCheckDelivered } from './check-delivered.ts'
import { createConfirm } from './confirm.ts'
import type { StepDeps } from './deps.ts'
import type { DispatchDeps } from './dispatch.ts'
import { createDispatch } from './dispatch.ts'
import { createExpedite } from './expedite.ts'
import { createPrepare } from './prepare.ts'
import { createStanding } from './standing.ts'
import { guarded } from './to-failure.ts'
import { createValidate } from './validate.ts'

/** The steps that need no key, for the queue of a chain. */
export function createKeylessSteps(deps: StepDeps & { withdraw: Withdraw }): KeylessSteps {
  return {
    admit: guarded(createAdmit(deps)),
    validate: guarded(createValidate(deps)),
    checkDelivered: guarded(createCheckDelivered(deps)),
    prepare: guarded(createPrepare(deps)),
    confirm: guarded(createConfirm(deps)),
    standing: guarded(createStanding(deps)),
    withdraw: guarded(deps.withdraw),
  }
}

/** The steps that need the key, for the queue of a lane. */
export function createLaneSteps(deps: BroadcastDeps & DispatchDeps): LaneSteps & ErrandSteps {
  return {
    broadcast: guarded(createBroadcast(deps)),
    expedite: guarded(createExpedite(deps)),
    dispatch: guarded(createDispatch(deps)),
  }
}

/** The step that looks again at what was delivered, for the queue of a chain. */
export function createAuditSteps(deps: AuditDeps): AuditSteps {
  return { auditDelivered: guarded(createAuditDelivered(deps)) }
}
