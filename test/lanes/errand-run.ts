import type { WorkflowHandle } from '@temporalio/client'
import { errandStatusQuery } from '../../temporal/errand.ts'

/** temporal.api.enums.v1.PendingActivityState.PENDING_ACTIVITY_STATE_STARTED */
const started = 2

/** Whether a worker has the step that drives the nonce of an errand, or has told by now what it holds. */
export async function isDispatched(errand: WorkflowHandle): Promise<boolean> {
  if ((await errand.query(errandStatusQuery)).state === 'pending') return true
  const { pendingActivities } = (await errand.describe()).raw
  return (pendingActivities ?? []).some(({ state }) => Number(state) === started)
}
