import type { AuditSteps } from '../temporal/contracts/audit.ts'
import type { BatchSteps } from '../temporal/contracts/batch.ts'
import type { OperatorTransactionSteps } from '../temporal/contracts/operator-transaction.ts'
import type { KeylessSteps, LaneSteps, LocalBroadcastSteps } from '../temporal/contracts/transfer-steps.ts'
import type { BroadcastDeps } from './transfer/acquire-nonce.ts'
import { createAdmit } from './transfer/admit.ts'
import { type AuditDeps, createAuditDelivered } from './audit/audit.ts'
import { createBroadcast } from './transfer/broadcast.ts'
import { createBroadcastNear } from './transfer/broadcast-near.ts'
import { type NearAtHand, type NearLanes, nearTimes } from './near-at-hand.ts'
import { createCheckDelivered } from './transfer/check-delivered.ts'
import { createConfirm } from './transfer/confirm.ts'
import { type ConfirmEndDeps, createConfirmEnd } from './transfer/confirm-end.ts'
import type { BroadcastSlots } from '../lanes/broadcast-slots.ts'
import { createSendOperatorTransaction, type SendOperatorTransactionDeps } from './operator-transaction/operator-transaction.ts'
import { createExpedite } from './transfer/expedite.ts'
import { createPrepare } from './transfer/prepare.ts'
import { createGetLaneStatus } from './transfer/get-lane-status.ts'
import { createRefuse, type RefuseDeps } from './transfer/refuse.ts'
import type { NotifierSteps } from '../temporal/contracts/notifier.ts'
import { createNotify, type NotifyDeps } from './notify.ts'
import { guarded } from './to-failure.ts'
import { createValidate } from './transfer/validate.ts'

/** The steps that need no key, for the queue of a chain. */
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

/** The steps that need the key, for the queue of a lane. */
export function createLaneSteps(deps: BroadcastDeps & SendOperatorTransactionDeps): LaneSteps & OperatorTransactionSteps & BatchSteps {
  const sendOperatorTransaction = guarded(createSendOperatorTransaction(deps))
  return {
    broadcast: guarded(createBroadcast(deps)),
    expedite: guarded(createExpedite(deps)),
    sendOperatorTransaction,
    broadcastBatch: (input) => sendOperatorTransaction({ ...input, lookUpOnly: true, cancel: false }),
  }
}

/** Lets transfer workflows that this process serves broadcast through a lane whose key it holds. The slots are those of `deps`. */
export function createNearAtHand(deps: BroadcastDeps & { readonly slots: BroadcastSlots }): NearAtHand {
  const { slots, ...rest } = deps
  return { slots, broadcast: createBroadcast({ ...rest, times: nearTimes }) }
}

/** The step that needs a key and is served where the workflow is, for the queue of a chain. */
export function createNearSteps(near: NearLanes): LocalBroadcastSteps {
  return { broadcastLocally: guarded(createBroadcastNear(near)) }
}

/** The step that looks again at what was delivered, for the queue of a chain. */
export function createAuditSteps(deps: AuditDeps): AuditSteps {
  return { auditDelivered: guarded(createAuditDelivered(deps)) }
}

/** The step that tells the receivers of notifications, for the queue of notifications. */
export function createNotifierSteps(deps: NotifyDeps): NotifierSteps {
  return { notify: guarded(createNotify(deps)) }
}
