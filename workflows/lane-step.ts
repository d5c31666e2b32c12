import type { LaneId } from '../domain/lane/lane.ts'
import { summaryText } from '../domain/text/web-ui-text.ts'
import type { BatchSteps } from '../temporal/contracts/batch.ts'
import { laneQueue } from '../temporal/contracts/names.ts'
import type { OperatorTransactionSteps, SendOperatorTransactionResult } from '../temporal/contracts/operator-transaction.ts'
import { failureText, laneStepPolicy } from './policies.ts'
import { ActivityFailure, isCancellation, proxyActivities } from '@temporalio/workflow'

/** `refused`: the step failed, and a retry cannot help. */
export type LaneStepResult = SendOperatorTransactionResult | { kind: 'refused'; reason: string }

export async function laneStep(
  lane: LaneId,
  summary: string,
  call: (steps: OperatorTransactionSteps & BatchSteps) => Promise<SendOperatorTransactionResult>,
): Promise<LaneStepResult> {
  try {
    return await call(proxyActivities({ ...laneStepPolicy(), taskQueue: laneQueue(lane), summary: summaryText(summary) }))
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error
    return { kind: 'refused', reason: failureText(error) }
  }
}
