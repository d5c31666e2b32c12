import { RelayerError } from '../../domain/catalogue/errors.ts'
import { refusalCodes } from '../../domain/lane/refusal-codes.ts'
import type { Batch } from '../../lanes/batch/batch-tracker.ts'
import type { Refused } from '../../lanes/ledger/nonce-requests.ts'
import { failpoint } from '../../observability/failpoints.ts'
import type { TimedStep } from '../../observability/step-times.ts'
import type { BroadcastInput, BroadcastResult, LaneSteps } from '../../temporal/contracts/transfer-steps.ts'
import { endpointOf } from '../deps.ts'
import { withHeartbeats } from '../heartbeats.ts'
import { acquire, type BroadcastDeps, timesOf } from './acquire-nonce.ts'
import { resultOf, untilIncluded } from './follow.ts'
import { recordLoss } from './set-aside.ts'
import type { Context } from '@temporalio/activity'

/**
 * Step 4, on the lane's queue or near at hand (`broadcast-near.ts`): gets the nonce from the ledger, signs, sends, follows into a block and, where finality is near, to finality.
 * Killed at any point, its next try is given the same nonce and makes the same bytes.
 */
export function createBroadcast(deps: BroadcastDeps): LaneSteps['broadcast'] {
  return async (input) => {
    const { slots } = deps
    const result = await withHeartbeats((context, enter) => {
      const step = () => run(deps, input, context, enter)
      return slots ? slots.runQueued(context.cancellationSignal, step) : step()
    })
    failpoint('activity-done-unreported')
    return result
  }
}

async function run(deps: BroadcastDeps, input: BroadcastInput, context: Context, enter: (phase: string) => void): Promise<BroadcastResult> {
  const { transfer, lane } = input
  const { cancellationSignal: signal } = context
  const agent = deps.agents.get(lane)
  if (!agent) throw new RelayerError('LANE_NOT_FOUND', { facts: { lane } })
  const times = timesOfSteps(deps, input, context.info)
  const acquired = await acquire(deps, agent, input, context)
  if (signal.aborted) await context.cancelled
  if (acquired === 'seen') return { kind: 'seen' }
  if (acquired.kind === 'no-slot') return acquired
  if (acquired.kind === 'refused') return refused(acquired)

  const batch = acquired.kind === 'member' ? acquired.batch : undefined
  const { pending } = acquired.kind === 'member' ? acquired.batch : acquired
  enter(batch ? `nonce ${pending.nonce} in ${batch.id}` : `nonce ${pending.nonce}`)
  times.reached('nonce')
  if (!batch) await agent.signAndSend(pending)
  times.reached('broadcast')
  const limits = { until: Date.now() + timesOf(deps).followMs, signal }
  for (;;) {
    enter(`following nonce ${pending.nonce}, ${pending.attempts} attempts`)
    await untilIncluded(pending, agent, limits)
    if (signal.aborted) await context.cancelled
    const { state } = pending
    const includedAt = state.kind === 'included' ? times.reached('included') : undefined
    // At once: until it is final, many more could be sent to the same recipient.
    if (state.kind === 'included' && !state.noop) await recordLoss(deps, transfer, state.receipt, batch !== undefined)
    const isUseless = batch && state.kind === 'included' && (state.noop || !endpointOf(deps, transfer).hasEffect(state.receipt, transfer))
    // The nonce of the batch is used up, final or not: its members do not wait for one that made it revert.
    if (isUseless) return { kind: 'seen' }
    const result = await resultOf(deps, transfer, pending, limits)
    if (!result) continue
    if (result.kind === 'delivered') times.delivered()
    const told = result.kind === 'included' && includedAt !== undefined ? { ...result, landed: { ...result.landed, includedAt } } : result
    return batch ? asMember(batch, told) : told
  }
}

/** Shows the times of the steps of a transfer from its admission on. One that was broadcast before has no times but that of its delivery. */
function timesOfSteps({ stepTimes }: BroadcastDeps, { transfer, mode, seenAt }: BroadcastInput, info: Context['info']) {
  const isFirst = mode !== 'follow' && info.attempt === 1
  let since = isFirst ? info.currentAttemptScheduledTimestampMs : undefined
  const reached = (step: TimedStep): number | undefined => {
    since = stepTimes && since !== undefined ? stepTimes.reached(step, transfer, since) : undefined
    return since
  }
  return {
    reached,
    delivered(): void {
      reached('final')
      stepTimes?.delivered(transfer, seenAt)
    },
  }
}

function refused({ why, detail }: Refused): BroadcastResult {
  if (why === 'withdrawn') return { kind: 'withdrawn' }
  if (why === 'conflict') throw new RelayerError('LANE_CONFLICT', { detail })
  return { kind: 'no-slot', code: refusalCodes[why], reason: `${why}: ${detail}` }
}

/** What became of a batch, as a result for one of its members. If it failed, another transfer may have made it revert: this one looks again. */
function asMember({ id, members }: Batch, result: BroadcastResult): BroadcastResult {
  switch (result.kind) {
    case 'delivered':
    case 'included':
      // Every member's share of the gas is the same, rounded down.
      return { ...result, landed: { ...result.landed, gasPaid: String(BigInt(result.landed.gasPaid) / BigInt(members.length)), batch: id } }
    case 'pending':
      return { ...result, reason: `in ${id} with ${members.length - 1} others: ${result.reason}` }
    case 'spent':
    case 'reverted':
      return { kind: 'seen' }
    default:
      return result
  }
}
