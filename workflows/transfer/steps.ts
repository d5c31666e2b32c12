import type { LaneId } from '../../domain/lane/lane-id.ts'
import { laneQueue } from '../../temporal/contracts/names.ts'
import type {
  AdmitInput,
  Admission,
  BroadcastInput,
  BroadcastResult,
  ConfirmInput,
  Confirmation,
  KeylessSteps,
  LaneSteps,
  LaneStatusAnswer,
  LaneStatusInput,
  WithdrawInput,
  Withdrawal,
} from '../../temporal/contracts/transfer-steps.ts'
import { broadcastPolicy, policies } from '../policies.ts'
import { ActivityCancellationType, isCancellation, proxyActivities, proxyLocalActivities } from '@temporalio/workflow'

const local = proxyLocalActivities<KeylessSteps>(policies.local)
const durable = proxyActivities<KeylessSteps>(policies.keyless)

/** Steps 1-3. One local activity, which costs nothing; if it fails for any reason, each step as a durable activity of its own name. */
export async function admit(input: AdmitInput, label: string): Promise<Admission> {
  try {
    return await local.admit.executeWithOptions({ ...policies.local, summary: `admit ${label}` }, [input])
  } catch (error) {
    if (isCancellation(error)) throw error
  }
  const options = (step: string) => ({ ...policies.keyless, summary: `${step} ${label}` })
  const validated = await durable.validate.executeWithOptions(options('validate'), [input])
  if (validated.kind !== 'passed') return validated
  const checked = await durable.checkDelivered.executeWithOptions(options('check delivered'), [input])
  if (checked.kind !== 'passed') return checked
  return durable.prepare.executeWithOptions(options('prepare'), [input])
}

/** Step 5, local first. */
export async function confirm(input: ConfirmInput, label: string): Promise<Confirmation> {
  try {
    return await local.confirm.executeWithOptions({ ...policies.local, summary: `confirm ${label}` }, [input])
  } catch (error) {
    if (isCancellation(error)) throw error
  }
  return durable.confirm.executeWithOptions({ ...policies.keyless, summary: `confirm ${label}` }, [input])
}

/** Step 4, on the lane's queue. Cancelling it abandons the task at once: the ledger was asked before, and gives the intent no nonce any more. */
export function broadcast(input: BroadcastInput, label: string): Promise<BroadcastResult> {
  const options = {
    ...broadcastPolicy(),
    taskQueue: laneQueue(input.lane),
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    summary: `broadcast ${label} by ${input.lane}`,
  }
  return proxyActivities<LaneSteps>(options).broadcast(input)
}

/** Does a lane take work? Local. Undefined if that cannot be learnt now: the caller goes on without it. */
export async function getLaneStatus(input: LaneStatusInput): Promise<LaneStatusAnswer | undefined> {
  try {
    return await local.getLaneStatus.executeWithOptions({ ...policies.local, summary: `status of ${input.lane}` }, [input])
  } catch (error) {
    if (isCancellation(error)) throw error
    return undefined
  }
}

export function withdraw(input: WithdrawInput): Promise<Withdrawal> {
  return durable.withdraw.executeWithOptions({ ...policies.keyless, summary: `${input.how} ${input.lane}` }, [input])
}

export async function expedite(lane: LaneId, intentId: string): Promise<void> {
  await proxyActivities<LaneSteps>({ ...policies.expedite, taskQueue: laneQueue(lane), summary: 'raise the fee now' }).expedite({
    lane,
    intentId,
  })
}
