import type { StepSlots } from '../lanes/step-slots.ts'
import type { AuditSteps } from '../temporal/contracts/audit.ts'
import type { BatchSteps } from '../temporal/contracts/batch.ts'
import type { NotifierSteps } from '../temporal/contracts/notifier.ts'
import type { OperatorTransactionSteps } from '../temporal/contracts/operator-transaction.ts'
import type { KeylessSteps, LaneSteps, LocalBroadcastSteps } from '../temporal/contracts/transfer-steps.ts'
import { type AuditDeps, createAuditDelivered } from './audit/audit.ts'
import type { LocalLane, LocalLanes } from './deps.ts'
import { createNotify, type NotifyDeps } from './notify.ts'
import { createSendOperatorTransaction, type SendOperatorTransactionDeps } from './operator-transaction/operator-transaction.ts'
import { guarded } from './run-step.ts'
import { createAdmit, createCheckDelivered, createValidate } from './transfer/admit.ts'
import { type BroadcastDeps, createBroadcast, createBroadcastLocally, createExpedite, localTimes } from './transfer/broadcast.ts'
import { createGetLaneStatus } from './transfer/choose-lane.ts'
import { type ConfirmEndDeps, createConfirmEnd } from './transfer/confirm-end.ts'
import { createConfirm } from './transfer/confirm.ts'
import { createPrepare } from './transfer/prepare.ts'
import { createRefuse, type RefuseDeps } from './transfer/refuse.ts'

export function createKeylessSteps(deps: ConfirmEndDeps & RefuseDeps): KeylessSteps {
  const refuse = createRefuse(deps)
  return {
    admit: guarded(createAdmit(deps, refuse)),
    validate: guarded(createValidate(deps, refuse)),
    checkDelivered: guarded(createCheckDelivered(deps)),
    prepare: guarded(createPrepare(deps)),
    confirm: guarded(createConfirm(deps)),
    getLaneStatus: guarded(createGetLaneStatus(deps)),
    withdraw: guarded(deps.withdraw),
    confirmEnd: guarded(createConfirmEnd(deps)),
  }
}

export function createLaneSteps(deps: BroadcastDeps & SendOperatorTransactionDeps): LaneSteps & OperatorTransactionSteps & BatchSteps {
  const sendOperatorTransaction = guarded(createSendOperatorTransaction(deps))
  return {
    broadcast: guarded(createBroadcast(deps)),
    expedite: guarded(createExpedite(deps)),
    sendOperatorTransaction,
    broadcastBatch: (input) => sendOperatorTransaction({ ...input, lookUpOnly: true, cancel: false }),
  }
}

/** Lets transfer workflows of this process broadcast through a lane whose key it holds. */
export function createLocalLane(deps: BroadcastDeps & { readonly slots: StepSlots }): LocalLane {
  const { slots, ...rest } = deps
  return { slots, broadcast: createBroadcast({ ...rest, ...localTimes }) }
}

export function createLocalBroadcastSteps(lanes: LocalLanes): LocalBroadcastSteps {
  return { broadcastLocally: guarded(createBroadcastLocally(lanes)) }
}

export function createAuditSteps(deps: AuditDeps): AuditSteps {
  return { auditDelivered: guarded(createAuditDelivered(deps)) }
}

export function createNotifierSteps(deps: NotifyDeps): NotifierSteps {
  return { notify: guarded(createNotify(deps)) }
}
