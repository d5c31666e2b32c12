import type { AuditSteps } from '../temporal/contracts/audit.ts'
import type { BatchSteps } from '../temporal/contracts/batch.ts'
import type { OperatorTransactionSteps } from '../temporal/contracts/operator-transaction.ts'
import type { KeylessSteps, LaneSteps, LocalBroadcastSteps } from '../temporal/contracts/transfer-steps.ts'
import { type AuditDeps, createAuditDelivered } from './audit/audit.ts'
import { createSendOperatorTransaction, type SendOperatorTransactionDeps } from './operator-transaction/operator-transaction.ts'
import { guarded, withHeartbeats } from './run-step.ts'
import { createAdmit, createCheckDelivered, createPrepare, createValidate } from './transfer/admit.ts'
import { type BroadcastDeps, createBroadcast, createBroadcastLocally, createExpedite } from './transfer/broadcast.ts'
import { createGetLaneStatus } from './transfer/choose-lane.ts'
import { createConfirmEnd, createRefuse, type EndDeps } from './transfer/confirm-end.ts'
import { createConfirm } from './transfer/confirm.ts'
import { createWaitIfFailing } from './transfer/failing-step.ts'

export function createChainSteps(deps: EndDeps & AuditDeps): KeylessSteps & LocalBroadcastSteps & AuditSteps {
  const refuse = createRefuse(deps)
  const waitIfFailing = createWaitIfFailing(deps)
  return guarded({
    admit: createAdmit(deps, refuse),
    validate: waitIfFailing(createValidate(deps, refuse), true),
    checkDelivered: waitIfFailing(createCheckDelivered(deps)),
    prepare: waitIfFailing(createPrepare(deps)),
    confirm: createConfirm(deps),
    getLaneStatus: createGetLaneStatus(deps),
    withdraw: deps.withdraw,
    confirmEnd: createConfirmEnd(deps),
    broadcastLocally: withHeartbeats(createBroadcastLocally(deps.localLanes)),
    auditDelivered: createAuditDelivered(deps),
  })
}

export function createLaneSteps(deps: BroadcastDeps & SendOperatorTransactionDeps): LaneSteps & OperatorTransactionSteps & BatchSteps {
  const sendOperatorTransaction = withHeartbeats(createSendOperatorTransaction(deps))
  return guarded({
    broadcast: withHeartbeats(createBroadcast(deps)),
    expedite: createExpedite(deps),
    sendOperatorTransaction,
    broadcastBatch: (input) => sendOperatorTransaction({ ...input, lookUpOnly: true, cancel: false }),
  })
}
