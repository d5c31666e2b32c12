import { backoffMs } from '../domain/backoff.ts'
import type { BatchEnd, BatchInput, BatchStatus, BatchSteps } from '../temporal/contracts/batch.ts'
import { batchClearedSignal, batchOverSignal, batchStatusQuery } from '../temporal/contracts/batch.ts'
import type { SendOperatorTransactionResult } from '../temporal/contracts/operator-transaction.ts'
import { rolledBackSignal } from '../temporal/contracts/transfer.ts'
import { batchIntentId, laneQueue } from '../temporal/contracts/names.ts'
import { failureText } from './failures.ts'
import { laneStepPolicy } from './policies.ts'
import {
  ActivityFailure,
  condition,
  isCancellation,
  makeContinueAsNewFunc,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow'

/**
 * Between two looks, ms, the first and the longest. Longer than a process takes to give it its nonce or not, so that a batch without one is over;
 * and rare, since as long as a member waits its process drives the batch.
 */
const firstWaitMs = 60_000
const longestWaitMs = 10 * 60_000

/**
 * One call for many transfers. It keeps what the call says, so that whoever finds its nonce in the ledger can make the same bytes, and sees to it
 * that the nonce meets its fate though all of its members' processes are gone. It never asks for a nonce: only a process that holds the members does.
 */
export async function batch(input: BatchInput): Promise<BatchStatus> {
  const { lane, intent, members } = input
  let { held, cleared = false } = input
  let end: BatchEnd | undefined
  let rolledBack = false
  setHandler(batchStatusQuery, () => ({ lane, intent, members, cleared, ...(end ?? { state: 'underway' as const, detail: '' }) }))
  setHandler(batchClearedSignal, () => void (cleared = true))
  setHandler(batchOverSignal, (told) => void (end ??= told))
  setHandler(rolledBackSignal, () => void (rolledBack = true))
  for (let looks = input.looks ?? 0; ; looks++) {
    if (workflowInfo().continueAsNewSuggested) {
      const { memo } = workflowInfo()
      await makeContinueAsNewFunc<typeof batch>({ ...(memo && { memo }) })({ ...input, looks, cleared, ...(held && { held }) })
    }
    await condition(() => end !== undefined || rolledBack, backoffMs(looks, firstWaitMs, longestWaitMs))
    if (!end) {
      rolledBack = false
      const look = broadcast({ ...input, cleared }, held)
      // Where the lane has no worker, the look may come after the word of who drove it.
      const result = await Promise.race([look, condition(() => end !== undefined).then(() => undefined)])
      if (result?.kind === 'pending') held = result.held
      else if (result) end ??= endOf(result)
    }
    if (end) return { lane, intent, members, cleared, ...end }
  }
}

/** Drives what it holds, for a while. What fails for good is of the key, and is looked at again: the nonce is the lane's. */
async function broadcast(
  { lane, intent, members, cleared }: BatchInput,
  held: BatchInput['held'],
): Promise<SendOperatorTransactionResult | undefined> {
  const { workflowId: owner } = workflowInfo()
  const options = { ...laneStepPolicy(), taskQueue: laneQueue(lane), summary: `${members.length} transfers` }
  const input = { lane, owner, intentId: batchIntentId(owner), intent, ...(!cleared && { members }), ...(held && { held }) }
  try {
    return await proxyActivities<BatchSteps>(options).broadcastBatch(input)
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error
    return { kind: 'no-slot', code: 'INTERNAL', reason: failureText(error) }
  }
}

/** Undefined: not over yet. */
function endOf(result: SendOperatorTransactionResult): BatchEnd | undefined {
  switch (result.kind) {
    case 'final': {
      const { ok, nonce, txHash, blockHeight, gasPaid } = result
      return {
        state: ok ? 'done' : 'reverted',
        detail: `transaction ${txHash} in block ${blockHeight}`,
        nonce,
        txHash,
        blockHeight,
        gasPaid,
      }
    }
    case 'spent':
      return { state: 'spent', detail: `nonce ${result.nonce} was used by a ${result.by} transaction`, nonce: result.nonce }
    case 'withdrawn':
      return { state: 'unsent', detail: 'it holds no nonce' }
    case 'lost':
      return { state: 'lost', detail: result.reason }
    default:
      return undefined
  }
}
