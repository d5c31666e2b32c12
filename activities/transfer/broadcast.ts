import { RelayerError } from '../../domain/errors.ts'
import { refusalCodes } from '../../domain/lane/refusal-codes.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import type { Refused } from '../../lanes/nonce-requests.ts'
import type { PendingTransaction } from '../../lanes/transaction/pending-transaction.ts'
import { failpoint } from '../../observability/failpoints.ts'
import type { BroadcastInput, BroadcastResult } from '../../temporal/contracts/transfer-steps.ts'
import { asMember, isUseless } from '../batch/member-result.ts'
import { endpointOf } from '../deps.ts'
import { heartbeatPace } from '../heartbeat-pace.ts'
import { acquire, type BroadcastDeps } from './acquire-nonce.ts'
import { resultOf, untilIncluded } from './follow.ts'
import { Context } from '@temporalio/activity'

/** Longest time that a transaction is followed, ms: then another step gets the activity slot, and the workflow waits without one. */
const followMs = 30_000

/**
 * Step 4, on the lane's queue: gets the nonce from the ledger, signs, sends, follows into a block and, where finality is near, to finality.
 * Killed at any point, its next try is given the same nonce and makes the same bytes.
 */
export function createBroadcast(deps: BroadcastDeps) {
  return async function broadcast(input: BroadcastInput): Promise<BroadcastResult> {
    const context = Context.current()
    const phases = heartbeatPhases(context)
    try {
      const result = await run(deps, input, phases, context)
      failpoint('activity-done-unreported')
      return result
    } finally {
      phases.end()
    }
  }
}

async function run(deps: BroadcastDeps, input: BroadcastInput, phases: Phases, context: Context): Promise<BroadcastResult> {
  const { transfer, lane } = input
  const { cancellationSignal: signal } = context
  const agent = deps.agents.get(lane)
  if (!agent) throw new RelayerError('LANE_NOT_FOUND', { facts: { lane } })
  const acquired = await acquire(deps, agent, input, context)
  if (signal.aborted) await context.cancelled
  if (acquired === 'seen') return { kind: 'seen' }
  if (acquired.kind === 'no-slot') return acquired
  if (acquired.kind === 'refused') return refused(acquired)

  const batch = acquired.kind === 'member' ? acquired.batch : undefined
  const pending = acquired.kind === 'member' ? acquired.batch.pending : acquired.pending
  phases.enter(batch ? `nonce ${pending.nonce} in ${batch.id}` : `nonce ${pending.nonce}`)
  if (!batch) await signAndSend(agent, pending)
  const limits = { until: Date.now() + followMs, signal }
  for (;;) {
    phases.enter(`following nonce ${pending.nonce}, ${pending.attempts} attempts`)
    await untilIncluded(pending, agent, limits)
    if (signal.aborted) await context.cancelled
    // The nonce of the batch is used up, final or not: its members do not wait for one that made it revert.
    if (batch && isUseless(pending.state, endpointOf(deps, transfer), transfer)) return { kind: 'seen' }
    const result = await resultOf(deps, transfer, pending, limits)
    if (result) return batch ? asMember(batch, result) : result
  }
}

async function signAndSend(agent: LaneAgent, pending: PendingTransaction): Promise<void> {
  try {
    await pending.signAndSend()
  } catch (error) {
    await agent.release(pending)
    throw error
  }
}

function refused({ why, detail }: Refused): BroadcastResult {
  if (why === 'withdrawn') return { kind: 'withdrawn' }
  if (why === 'conflict') throw new RelayerError('LANE_CONFLICT', { detail })
  return { kind: 'no-slot', code: refusalCodes[why], reason: `${why}: ${detail}` }
}

interface Phases {
  enter(phase: string): void
  end(): void
}

/** Heartbeats show the phase in the Web UI and find a dead worker. A healthy transfer ends before the first, which would cost a state transition. */
function heartbeatPhases(context: Context): Phases {
  const phases: { at: string; phase: string }[] = []
  const { firstMs, everyMs } = heartbeatPace(context)
  let timer = setTimeout(function tick() {
    context.heartbeat(phases)
    timer = setTimeout(tick, everyMs)
  }, firstMs)
  return {
    enter: (phase) => {
      if (phases.at(-1)?.phase !== phase) phases.push({ at: new Date().toISOString(), phase })
    },
    end: () => clearTimeout(timer),
  }
}
