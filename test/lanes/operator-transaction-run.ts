import type { WorkflowHandle } from '@temporalio/client'
import { operatorTransactionStatusQuery } from '../../temporal/contracts/operator-transaction.ts'

/** temporal.api.enums.v1.PendingActivityState.PENDING_ACTIVITY_STATE_STARTED */
const started = 2

export async function isBeingSent(operatorTransaction: WorkflowHandle): Promise<boolean> {
  if ((await operatorTransaction.query(operatorTransactionStatusQuery)).state === 'pending') return true
  const { pendingActivities } = (await operatorTransaction.describe()).raw
  return (pendingActivities ?? []).some(({ state }) => Number(state) === started)
}
