import { byTemporal, type Order, orderOf } from '../domain/order.ts'
import { errorCatalogue } from '../domain/catalogue/errors.ts'
import { backoffMs } from '../domain/backoff.ts'
import { intentIdOf, roundOf } from '../domain/lane/lane.ts'
import * as contract from '../temporal/contracts/operator-transaction.ts'
import { shellWord } from '../domain/text/printable.ts'
import { code as asCode, durationText, foreign, paragraphs, summaryText, timeText, workflowLink } from '../domain/text/web-ui-text.ts'
import { laneWorkflowId } from '../temporal/contracts/names.ts'
import { laneStep, type LaneStepResult } from './lane-step.ts'
import { CancellationScope, condition, continueAsNew, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow'

type Change = Partial<contract.OperatorTransactionStatus> & Pick<contract.OperatorTransactionStatus, 'state' | 'detail'>
type SignedRecord = contract.SignedHash & { intentId: string; nonce: number }

const firstWaitMs = 2_000
const longestWaitMs = 60_000
const checksPerRun = 200

/** Sends one intent until it is final. An intent of unknown fate is not sent again: that could pay twice. */
export function operatorTransaction(input: contract.OperatorTransactionInput): Promise<contract.OperatorTransactionStatus> {
  const { cancelRequested } = CancellationScope.current()
  // A cancel by Temporal becomes an order, and does not interrupt a step: the use of the nonce decides how the workflow
  // ends.
  return CancellationScope.nonCancellable(() => sendUntilFinal(input, cancelRequested))
}

async function sendUntilFinal(input: contract.OperatorTransactionInput, cancelRequested: Promise<never>) {
  const { lane, intent, by, reason, firstRound: round = 1 } = input
  const begun = { round, sentBefore: false, waits: 0, orderedAt: workflowInfo().startTime.getTime() }
  const progress: contract.OperatorTransactionProgress = { ...(input.progress ?? begun) }
  const { orderedAt, cancelledBy: before } = progress
  let status: contract.OperatorTransactionStatus = {
    ...{ lane, intent, by, reason, orderedAt, state: 'waiting', detail: 'not sent yet' },
    ...(before && { cancelledBy: before }),
  }
  setHandler(contract.operatorTransactionStatusQuery, () => status)
  const cancel = (order: Order) => {
    progress.cancelledBy ??= order
    status = { ...status, cancelledBy: progress.cancelledBy }
    show(status)
  }
  setHandler(contract.cancelOperatorTransactionSignal, (given) => cancel(orderOf(given)))
  cancelRequested.catch(() => cancel(byTemporal))
  setHandler(contract.operatorTransactionSignedSignal, (signed) => recordSigned(progress, signed))
  show(status)
  for (let checks = 0; ; checks++) {
    if (checks >= checksPerRun || workflowInfo().continueAsNewSuggested)
      await continueAsNew<typeof operatorTransaction>({ ...input, progress })
    const { cancelledBy, sentBefore } = progress
    const result = await send(input, progress)
    status = { ...status, ...applyResult(result, progress, sentBefore || isAfterReset()) }
    show(status)
    if (status.state !== 'waiting' && status.state !== 'pending') return status
    const waitMs = backoffMs(progress.waits++, firstWaitMs, longestWaitMs)
    if (result.kind === 'spent' || result.kind === 'superseded') continue
    const summary = summaryText(`${status.state}: ${status.detail}; checks again in ${durationText(waitMs)}`)
    await condition(() => progress.cancelledBy !== cancelledBy, waitMs, { summary })
  }
}

function isAfterReset(): boolean {
  const { runId, originalExecutionRunId } = workflowInfo()
  return runId !== originalExecutionRunId
}

function send(input: contract.OperatorTransactionInput, progress: contract.OperatorTransactionProgress): Promise<LaneStepResult> {
  const { lane, intent, by, reason, onlyBelow } = input
  const { round, held, earlier, cancelledBy, orderedAt } = progress
  const intentId = intentIdOf(workflowInfo().workflowId, round)
  // A new nonce for an intent that may have been sent could cause a second payment.
  const lookUpOnly = progress.sentBefore || isAfterReset()
  progress.sentBefore = true
  const call = { lane, intentId, intent, lookUpOnly, held, earlier, orderedAt, onlyBelow, cancel: cancelledBy !== undefined }
  return laneStep(lane, `${reason} (${by})`, ({ sendOperatorTransaction }) => sendOperatorTransaction(call))
}

/** Records a hash from any process and round. People may type signals, so a missing field must not fail the task. */
function recordSigned(progress: contract.OperatorTransactionProgress, signed: Partial<SignedRecord> | undefined): void {
  const { intentId, nonce, kind, hash } = signed ?? {}
  if (typeof intentId !== 'string' || typeof nonce !== 'number' || typeof hash !== 'string' || (kind !== 'call' && kind !== 'noop')) return
  const isPresent = roundOf(intentId) === progress.round && (progress.held?.nonce ?? nonce) === nonce
  if (isPresent) progress.held = contract.mergeHeld(progress.held, { nonce, tried: [{ kind, hash }] })
  else keepEarlier(progress, { nonce, tried: [{ kind, hash }] })
}

function keepEarlier(progress: contract.OperatorTransactionProgress, held: contract.Held): void {
  const { earlier = [] } = progress
  const known = earlier.find(({ nonce }) => nonce === held.nonce)
  progress.earlier = [...earlier.filter((one) => one !== known), contract.mergeHeld(known, held)]
}

function closeRound(progress: contract.OperatorTransactionProgress): void {
  if (progress.held) keepEarlier(progress, progress.held)
  delete progress.held
}

function applyResult(result: LaneStepResult, progress: contract.OperatorTransactionProgress, sentBefore: boolean): Change {
  switch (result.kind) {
    case 'final': {
      const { kind: _, ok, ...where } = result
      return { ...where, state: ok ? 'done' : 'reverted', detail: `transaction ${where.txHash} in block ${where.blockHeight}` }
    }
    case 'pending':
      if (progress.held && progress.held.nonce !== result.held.nonce) closeRound(progress)
      progress.held = contract.mergeHeld(progress.held, result.held)
      return { state: 'pending', nonce: result.held.nonce, detail: result.reason }
    case 'no-slot':
      // This step sent nothing, so only an earlier step may have sent the transaction.
      progress.sentBefore = sentBefore
      return { state: 'waiting', detail: `${result.code}: ${result.reason}` }
    case 'none':
      // The process reports every signature before it sends, so without a report, nothing was sent.
      progress.sentBefore = progress.held !== undefined
      return { state: 'waiting', detail: 'the step was interrupted; the next step looks for the nonce' }
    case 'spent':
      return applySpent(result, progress)
    case 'superseded':
      closeRound(progress)
      progress.round = Math.max(progress.round + 1, roundOf(result.intentId))
      return { state: 'waiting', detail: `${result.intentId} holds a nonce` }
    case 'withdrawn':
      return { state: 'cancelled', detail: cancelledText(progress, 'nothing was sent') }
    case 'refused':
      return applyRefused(result.reason, progress, sentBefore)
    default:
      return { state: result.kind, detail: result.reason }
  }
}

function applyRefused(reason: string, { held, earlier }: contract.OperatorTransactionProgress, sentBefore: boolean): Change {
  if (sentBefore || held) return { state: 'pending', detail: `it may have been sent before; now it is refused: ${reason}` }
  if (!earlier) return { state: 'refused', detail: reason }
  const nonces = earlier.map(({ nonce }) => nonce).join(', ')
  return { state: 'cancelled', detail: `refused after it had been sent; nonces ${nonces} were used by other transactions: ${reason}` }
}

function applySpent({ nonce, by }: Extract<LaneStepResult, { kind: 'spent' }>, progress: contract.OperatorTransactionProgress): Change {
  const detail = `nonce ${nonce} was used by a ${by} transaction`
  if (progress.cancelledBy) return { state: 'cancelled', nonce, detail: cancelledText(progress, detail) }
  closeRound(progress)
  progress.round += 1
  progress.sentBefore = false
  return { state: 'waiting', detail: `${detail}; sent again with another nonce` }
}

function cancelledText({ cancelledBy }: contract.OperatorTransactionProgress, what: string): string {
  return `cancelled by ${cancelledBy?.by ?? 'the lane'}: ${cancelledBy?.reason ?? ''}; ${what}`
}

function show({ lane, intent, by, reason, orderedAt, state, detail, nonce, cancelledBy }: contract.OperatorTransactionStatus): void {
  const { namespace, workflowId } = workflowInfo()
  const isOpen = state === 'waiting' || state === 'pending'
  setCurrentDetails(
    paragraphs(
      `**${state}** ${foreign(detail)}`,
      state === 'lost' && `\`TRANSACTION_LOST\` **What to do:** ${foreign(errorCatalogue.TRANSACTION_LOST.remedy)}`,
      cancelledBy && `cancel ordered by ${foreign(cancelledBy.by)}: ${foreign(cancelledBy.reason)}`,
      isOpen && !cancelledBy && `- to end it: ${asCode(`portage lane cancel-transaction ${shellWord(workflowId) ?? '…'} --reason "…"`)}`,
      `${foreign(reason)}, by ${foreign(by)}, ${timeText(orderedAt)}`,
      `to ${foreign(intent.to)}, value ${foreign(intent.value)}, through ${workflowLink(namespace, laneWorkflowId(lane), `lane ${lane}`)}${nonce === undefined ? '' : `, nonce ${nonce}`}`,
    ),
  )
}
