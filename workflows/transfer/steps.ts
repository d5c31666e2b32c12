import type { LaneId } from '../../domain/lane/lane.ts'
import { summaryText } from '../../domain/text/web-ui-text.ts'
import { laneQueue } from '../../temporal/contracts/names.ts'
import type * as contract from '../../temporal/contracts/transfer-steps.ts'
import { policies } from '../policies.ts'
import { isCancellation, type LocalActivityOptions, proxyActivities, proxyLocalActivities } from '@temporalio/workflow'

const local = proxyLocalActivities<contract.KeylessSteps>(policies.local)
const durable = proxyActivities<contract.KeylessSteps>(policies.keyless)

/**
 * Does steps 1 to 3 in a local activity, which saves round trips to the server. If it fails, three durable steps do the
 * work.
 */
export async function admit(input: contract.AdmitInput, label: string): Promise<contract.Admission> {
  const admission = await tryLocal(local.admit, input, `admit ${label}: validate, check delivered, prepare`)
  if (admission) return admission
  const options = (step: string) => ({ ...policies.keyless, summary: summaryText(`${step} ${label}`) })
  const validated = await durable.validate.executeWithOptions(options('validate'), [input])
  if (validated.kind !== 'passed') return validated
  const checked = await durable.checkDelivered.executeWithOptions(options('check delivered'), [input])
  if (checked.kind !== 'passed') return checked
  return durable.prepare.executeWithOptions(options('prepare'), [input])
}

export async function confirm(input: contract.ConfirmInput, label: string): Promise<contract.Confirmation> {
  const summary = summaryText(`confirm ${label}`)
  return (await tryLocal(local.confirm, input, summary)) ?? durable.confirm.executeWithOptions({ ...policies.keyless, summary }, [input])
}

export async function confirmEnd(input: contract.ConfirmEndInput, label: string): Promise<contract.EndConfirmation> {
  const summary = summaryText(`confirm the end of ${label}`)
  const options = { ...policies.keyless, summary }
  return (await tryLocal(local.confirmEnd, input, summary)) ?? durable.confirmEnd.executeWithOptions(options, [input])
}

export function getLaneStatus(input: Parameters<contract.KeylessSteps['getLaneStatus']>[0]) {
  return tryLocal(local.getLaneStatus, input, `status of ${input.lane}`)
}

export function expedite(lane: LaneId, intentId: string): Promise<void> {
  const options = { ...policies.expedite, taskQueue: laneQueue(lane), summary: 'raise the fee now' }
  return proxyActivities<contract.LaneSteps>(options).expedite({ lane, intentId })
}

async function tryLocal<Input, Result>(
  step: { executeWithOptions(options: LocalActivityOptions, args: [Input]): Promise<Result> },
  input: Input,
  summary: string,
): Promise<Result | undefined> {
  try {
    return await step.executeWithOptions({ ...policies.local, summary: summaryText(summary) }, [input])
  } catch (error) {
    if (isCancellation(error)) throw error
    return undefined
  }
}
