import type { Chain } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { workflowOf } from '../../domain/lane/intent-id.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import { laneCall } from '../../lanes/lane-call.ts'
import type { BroadcastSlots } from '../../lanes/broadcast-slots.ts'
import type { Acquired, NonceRequest } from '../../lanes/ledger/nonce-requests.ts'
import { defaultFailoverTimes } from '../../temporal/contracts/failover.ts'
import type { BroadcastInput, BroadcastResult } from '../../temporal/contracts/transfer-steps.ts'
import { type BatchRouting, waitForBatchMs } from '../batch/batch-routing.ts'
import type { BatchAnswer } from '../batch/build-batch.ts'
import { endpointOf, type StepDeps } from '../deps.ts'
import { type BroadcastTimes, queuedTimes } from '../near-at-hand.ts'
import { isDelivered } from './delivery-checks.ts'
import { restrictionOf } from './restrictions.ts'
import { goesAlone } from './set-aside.ts'
import type { Context } from '@temporalio/activity'

/** A look that finds no effect, the admission's too, is believed for this share of the heartbeat time-out: then another process may have taken over. */
const believedShare = 0.8
type NoSlot = Extract<BroadcastResult, { kind: 'no-slot' }>

/** The part of a lane's agent that acquiring a nonce needs. */
export type NonceSource = Pick<LaneAgent, 'find' | 'acquire' | 'release' | 'justify'>

export interface AcquireDeps extends Pick<StepDeps, 'bridges' | 'settings' | 'losses' | 'lossReports' | 'stepTimes'> {
  readonly chain: Chain
  /** By lane; absent: no transfers share a call. */
  readonly batchRouting?: ReadonlyMap<LaneId, BatchRouting>
  /** Absent: that of the lane's queue. */
  readonly times?: BroadcastTimes
}

export interface BroadcastDeps extends AcquireDeps {
  readonly agents: ReadonlyMap<LaneId, LaneAgent>
  /** Shares the slots of a key between its queue and steps near at hand; absent: there is only the queue. */
  readonly slots?: BroadcastSlots
}

/** A nonce, alone or with others; or why there is none. `seen`: the effect is there. */
type Outcome = Acquired | Extract<BatchAnswer, { kind: 'member' }> | 'seen' | NoSlot
type TryInfo = Pick<Context['info'], 'attempt' | 'currentAttemptScheduledTimestampMs' | 'heartbeatTimeoutMs'>

/**
 * A try after which a nonce may be held looks for that first. If there is none, or if the try comes late, the chain is asked: where the effect is
 * there, no nonce is wasted on it. A halt or a denial holds back a transfer without a nonce; one with a nonce goes on, since the nonce is the lane's debt.
 */
export async function acquire(
  deps: AcquireDeps,
  agent: NonceSource,
  input: BroadcastInput,
  { cancellationSignal: signal, info }: Pick<Context, 'cancellationSignal'> & { readonly info: TryInfo },
): Promise<Outcome> {
  const { transfer, lane, intentId, retriedAt } = input
  const routing = deps.batchRouting?.get(lane)
  const request = await requestOf(deps, input)
  const believedMs = (info.heartbeatTimeoutMs ?? defaultFailoverTimes.heartbeatMs) * believedShare
  const effect = looksAtEffect(deps, transfer, info.currentAttemptScheduledTimestampMs, believedMs)
  // An earlier try may have sent a call, whatever the ledger knows of that.
  const maybeSent = input.mode !== 'new' || info.attempt > 1
  if (maybeSent) {
    const held = await agent.find(request, signal)
    if (held.kind === 'acquired' || held.why !== 'none') return held
    const batch = await routing?.find(transfer, intentId)
    if (batch) return { kind: 'member', batch }
  }
  if ((maybeSent || effect.isOld()) && (await effect.look())) return 'seen'
  // Its nonce is final without the effect, or its ledger is lost. It gets a second one only after another simulation.
  if (input.mode === 'follow') return { kind: 'refused', why: 'withdrawn', detail: 'the ledger has done with the nonce of this intent' }
  const before = await restrictionOf(deps, transfer, lane, retriedAt)
  if (before) return before
  // Alone: in a call with others, one that nothing justifies would keep those from being signed.
  await agent.justify(request)
  const candidate = { ...request, intentId, transfer, maybeSent, believedMs, retriedAt }
  const batched = goesAlone(deps, transfer) ? undefined : await routing?.enqueue(candidate, { signal, timeoutMs: waitForBatchMs })
  if (batched?.kind === 'seen') return 'seen'
  if (batched && batched.kind !== 'alone') return batched
  const acquired = await agent.acquire(request, { signal, timeoutMs: timesOf(deps).forNonceMs })
  if (acquired.kind === 'refused') return acquired
  // The call of an earlier try may be in the very block from which on a ledger that began anew grants nonces.
  const seen = (effect.isOld() || (maybeSent && effect.blockPassed())) && (await effect.look())
  // Last, right before it is signed: a halt, a denial or a closed gate that came while it waited for its nonce.
  const held = acquired.pending.unsigned ? await restrictionOf(deps, transfer, lane, retriedAt) : undefined
  if (!seen && !held) return acquired
  await agent.release(acquired.pending)
  return held && !seen ? held : 'seen'
}

/** How long a step waits and follows. */
export function timesOf({ times = queuedTimes }: Pick<AcquireDeps, 'times'>): BroadcastTimes {
  return times
}

async function requestOf(deps: AcquireDeps, input: BroadcastInput): Promise<NonceRequest> {
  const { transfer, lane, intentId, gasLimit, maxFee, tip, dataFee, priority, deadline } = input
  const call = laneCall(intentId, await endpointOf(deps, transfer).intent(transfer))
  if (call.owner.callHash !== input.callHash) throw new RelayerError('LANE_CONFLICT', { facts: { transfer: workflowOf(intentId), lane } })
  return {
    ...call,
    first: { kind: 'call', gasLimit, maxFee, tip, dataFee },
    priority,
    source: `${transfer.sourceChain}/${transfer.emitter}`,
    deadline,
  }
}

/** Looks at whether a transfer's effect is there. @param at when it was last looked at, ms since the epoch: by the admission */
function looksAtEffect(deps: AcquireDeps, transfer: Transfer, at: number, believedMs: number) {
  const latest = () => deps.chain.heads.current?.latest.hash
  let block: string | undefined
  return {
    isOld: () => Date.now() - at > believedMs,
    /** There is a later block than at the last look. */
    blockPassed: () => latest() !== block,
    look() {
      at = Date.now()
      block = latest()
      return isDelivered(deps.chain, endpointOf(deps, transfer), transfer)
    },
  }
}
