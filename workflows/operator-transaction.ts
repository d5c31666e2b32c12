import { orderOf } from '../domain/order.ts'
import { backoffMs } from '../domain/backoff.ts'
import { intentIdOf, roundOf } from '../domain/lane/intent-id.ts'
import {
  type OperatorTransactionInput,
  type OperatorTransactionProgress,
  type OperatorTransactionStatus,
  cancelOperatorTransactionSignal,
  operatorTransactionStatusQuery,
} from '../temporal/contracts/operator-transaction.ts'
import { laneStep, type LaneStepResult } from './lane-step.ts'
import { condition, continueAsNew, setHandler, workflowInfo } from '@temporalio/workflow'

/** First and longest wait between two looks, ms. */
const firstWaitMs = 2_000
const longestWaitMs = 60_000
/** After so many looks it goes on in a new run. */
const looksPerRun = 200

/**
 * One intent of an operator (a payment, a sweep to the treasury, a top-up), sent through the ledger of a lane until it is final. Unlike a delivery,
 * nothing makes the effect of a payment single: where the ledger cannot say what became of it, it is not sent again.
 */
export async function operatorTransaction(input: OperatorTransactionInput): Promise<OperatorTransactionStatus> {
  const progress: OperatorTransactionProgress = { ...(input.progress ?? { round: 1, sentBefore: false, waits: 0 }) }
  const { lane, intent, by, reason } = input
  let status: OperatorTransactionStatus = { lane, intent, by, reason, state: 'waiting', detail: 'not sent yet' }
  setHandler(operatorTransactionStatusQuery, () => status)
  setHandler(cancelOperatorTransactionSignal, (given) => {
    progress.cancelledBy ??= orderOf(given)
    status = { ...status, cancelledBy: progress.cancelledBy }
  })
  for (let looks = 0; ; looks++) {
    if (looks >= looksPerRun || workflowInfo().continueAsNewSuggested)
      await continueAsNew<typeof operatorTransaction>({ ...input, progress })
    const { cancelledBy } = progress
    const result = await send(input, progress)
    status = { ...status, ...applyResult(result, progress) }
    if (status.state !== 'waiting' && status.state !== 'pending') return status
    const waitMs = backoffMs(progress.waits++, firstWaitMs, longestWaitMs)
    if (result.kind === 'spent' || result.kind === 'superseded') continue
    // A cancel that came meanwhile ends the wait at once.
    await condition(() => progress.cancelledBy !== cancelledBy, waitMs)
  }
}

function send({ lane, intent, by, reason }: OperatorTransactionInput, progress: OperatorTransactionProgress): Promise<LaneStepResult> {
  const { workflowId: owner, runId, originalExecutionRunId } = workflowInfo()
  const { round, held, cancelledBy } = progress
  // What a run before a reset did is not known, and nothing is paid twice: it goes on with the nonce that it holds, and ends `lost` without one.
  const lookUpOnly = progress.sentBefore || runId !== originalExecutionRunId
  progress.sentBefore = true
  const call = { lane, intentId: intentIdOf(owner, round), intent, lookUpOnly, held, cancel: cancelledBy !== undefined }
  return laneStep(lane, `${reason} (${by})`, ({ sendOperatorTransaction }) => sendOperatorTransaction(call))
}

/** Changes the progress by a result, and returns what it changes of the status. */
function applyResult(
  result: LaneStepResult,
  progress: OperatorTransactionProgress,
): Partial<OperatorTransactionStatus> & Pick<OperatorTransactionStatus, 'state' | 'detail'> {
  switch (result.kind) {
    case 'final': {
      const { kind: _, ok, ...where } = result
      return { ...where, state: ok ? 'done' : 'reverted', detail: `transaction ${where.txHash} in block ${where.blockHeight}` }
    }
    case 'pending':
      progress.held = result.held
      return { state: 'pending', nonce: result.held.nonce, detail: result.reason }
    case 'no-slot':
      // Nothing is held, so nothing can be lost.
      progress.sentBefore = false
      return { state: 'waiting', detail: `${result.code}: ${result.reason}` }
    case 'spent': {
      const detail = `nonce ${result.nonce} was used by a ${result.by} transaction`
      if (progress.cancelledBy) return { state: 'cancelled', nonce: result.nonce, detail: cancelledText(progress, detail) }
      progress.round += 1
      progress.sentBefore = false
      delete progress.held
      return { state: 'waiting', detail: `${detail}; again with another` }
    }
    case 'superseded':
      progress.round = Math.max(progress.round + 1, roundOf(result.intentId))
      return { state: 'waiting', detail: `${result.intentId} holds a nonce` }
    case 'withdrawn':
      return { state: 'cancelled', detail: cancelledText(progress, 'nothing was sent') }
    default:
      return { state: result.kind, detail: result.reason }
  }
}

function cancelledText({ cancelledBy }: OperatorTransactionProgress, what: string): string {
  return `cancelled by ${cancelledBy?.by ?? 'the lane'}: ${cancelledBy?.reason ?? ''}; ${what}`
}
