import { backoffMs } from '../domain/backoff.ts'
import * as contract from '../temporal/contracts/batch.ts'
import { rolledBackSignal } from '../temporal/contracts/transfer.ts'
import { batchIntentId, laneWorkflowId } from '../temporal/contracts/names.ts'
import { durationText, foreign, paragraphs, summaryText, workflowLink } from '../domain/text/web-ui-text.ts'
import { workflowOf } from '../domain/lane/lane.ts'
import { laneStep, type LaneStepResult } from './lane-step.ts'
import { condition, makeContinueAsNewFunc, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow'

/** Time until the workflow looks for the batch's nonce, ms. A batch without a nonce then ends. */
const firstWaitMs = 60_000
const longestWaitMs = 10 * 60_000

/** Records a call for many transfers, so that any process can make the same bytes. Does not ask for a nonce itself. */
export async function batch(input: contract.BatchInput): Promise<contract.BatchStatus> {
  const { lane, intent, members } = input
  const { workflowId } = workflowInfo()
  let { held, cleared = false } = input
  let end: contract.BatchEnd | undefined
  let rolledBack = false
  setHandler(contract.batchStatusQuery, () => ({ ...(end ?? { state: 'underway' as const, detail: '' }), lane, intent, members, cleared }))
  setHandler(contract.batchClearedSignal, () => void (cleared = true))
  setHandler(contract.batchOverSignal, (reported) => void (contract.isBatchEnd(reported) && (end ??= reported)))
  setHandler(rolledBackSignal, () => void (rolledBack = true))
  show(input, held, end)
  for (let checks = input.checks ?? 0; ; checks++) {
    const { continueAsNewSuggested, memo } = workflowInfo()
    if (continueAsNewSuggested) await makeContinueAsNewFunc<typeof batch>({ memo })({ ...input, checks, cleared, held })
    const waitMs = backoffMs(checks, firstWaitMs, longestWaitMs)
    const summary = summaryText(`a process of ${lane} sends the call; the workflow looks for its nonce in ${durationText(waitMs)}`)
    await condition(() => end !== undefined || rolledBack, waitMs, { summary })
    if (!end) {
      rolledBack = false
      const call = { lane, intentId: batchIntentId(workflowId), intent, members: cleared ? undefined : members, held }
      const result = await Promise.race([
        laneStep(lane, `${members.length} transfers in one call of ${lane}`, ({ broadcastBatch }) => broadcastBatch(call)),
        condition(() => end !== undefined).then(() => undefined),
      ])
      if (result?.kind === 'pending') held = result.held
      else if (result) end ??= endOf(result)
    }
    show(input, held, end)
    if (end) return { ...end, lane, intent, members, cleared }
  }
}

/**
 * The end of the batch after this result. Undefined while the batch goes on. `refused` does not end the batch: one
 * process's step failed for good, and another process of the lane may still send the call.
 */
function endOf(result: LaneStepResult): contract.BatchEnd | undefined {
  switch (result.kind) {
    case 'final': {
      const { ok, nonce, txHash, blockHeight, gasPaid } = result
      const detail = `transaction ${txHash} in block ${blockHeight}`
      return { state: ok ? 'done' : 'reverted', detail, nonce, txHash, blockHeight, gasPaid }
    }
    case 'spent':
      return { state: 'spent', detail: `nonce ${result.nonce} was used by a ${result.by} transaction`, nonce: result.nonce }
    case 'withdrawn':
      return { state: 'unsent', detail: 'the batch holds no nonce' }
    case 'lost':
      return { state: 'lost', detail: result.reason }
    default:
      return undefined
  }
}

const membersShown = 20

function show({ lane, members }: contract.BatchInput, held: contract.BatchInput['held'], end: contract.BatchEnd | undefined): void {
  const { namespace } = workflowInfo()
  const named = members.slice(0, membersShown).map((intent) => `- ${workflowLink(namespace, workflowOf(intent), workflowOf(intent))}`)
  setCurrentDetails(
    paragraphs(
      `**${end?.state ?? 'underway'}**${end ? ` ${foreign(end.detail)}` : ''}`,
      `${members.length} transfers in one call of ${workflowLink(namespace, laneWorkflowId(lane), `lane ${lane}`)}${held ? `, nonce ${held.nonce}` : ''}`,
      [...named, ...(members.length > membersShown ? [`- and ${members.length - membersShown} more`] : [])].join('\n'),
    ),
  )
}
