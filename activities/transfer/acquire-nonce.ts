import type { Bridges } from '../../bridges/port.ts'
import type { Chain } from '../../chains/port.ts'
import { RelayerError } from '../../domain/errors.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import { laneCall } from '../../lanes/lane-call.ts'
import type { Batch } from '../../lanes/batch/batch-tracker.ts'
import type { Acquired, NonceRequest } from '../../lanes/nonce-requests.ts'
import { defaultTakeover } from '../../temporal/contracts/takeover.ts'
import type { BroadcastInput, BroadcastResult } from '../../temporal/contracts/transfer-steps.ts'
import { type BatchRouting, waitForBatchMs } from '../batch/batch-routing.ts'
import { endpointOf, type StepDeps } from '../deps.ts'
import { isDelivered } from './delivery-checks.ts'
import { restrictionOf } from './restrictions.ts'
import type { Context } from '@temporalio/activity'

/** Longest wait for a nonce, ms: then another step gets the activity slot, and the workflow waits without one. */
const waitForSlotMs = 60_000
/**
 * The admission's word that the effect is not there is believed for so much of the heartbeat time-out: a process that was stopped for longer than
 * that time-out resumes tries that other processes have taken over and ended.
 */
const believedShare = 0.8
type NoSlot = Extract<BroadcastResult, { kind: 'no-slot' }>

/** What acquiring a nonce needs of the agent of a lane. */
export type NonceSource = Pick<LaneAgent, 'find' | 'acquire' | 'release'>

export interface AcquireDeps {
  readonly bridges: Bridges
  /** The lane's. */
  readonly chain: Chain
  readonly settings: StepDeps['settings']
  /** By lane; absent: no transfers share a call. */
  readonly batchRouting?: ReadonlyMap<LaneId, BatchRouting>
}

export interface BroadcastDeps extends AcquireDeps {
  readonly agents: ReadonlyMap<LaneId, LaneAgent>
}

/** It is in a call with others, which holds a nonce. */
interface InBatch {
  readonly kind: 'member'
  readonly batch: Batch
}

/** A nonce, alone or with others; or why there is none. `seen`: the effect is there. */
type Outcome = Acquired | InBatch | 'seen' | NoSlot

/** What one try of the step works with. */
interface Try {
  readonly deps: AcquireDeps
  readonly agent: NonceSource
  readonly input: BroadcastInput
  readonly request: NonceRequest
  readonly options: { readonly timeoutMs: number; readonly signal: AbortSignal }
  readonly effect: EffectLooks
  /** An earlier try may have sent a call, whatever the ledger knows of that. */
  readonly maybeSent: boolean
}

/**
 * A try after which a nonce may be held looks for that first. If there is none, or if the try comes late, the chain is asked: where the effect is
 * there, no nonce is wasted on it. A halt holds back a transfer without a nonce; one with a nonce goes on, since the nonce is the lane's debt.
 */
export async function acquire(
  deps: AcquireDeps,
  agent: NonceSource,
  input: BroadcastInput,
  context: Pick<Context, 'cancellationSignal'> & { readonly info: TryInfo },
): Promise<Outcome> {
  const request = await requestOf(deps, input)
  const options = { timeoutMs: waitForSlotMs, signal: context.cancellationSignal }
  const effect = new EffectLooks(deps, input.transfer, context.info)
  const maybeSent = input.mode !== 'new' || context.info.attempt > 1
  const one: Try = { deps, agent, input, request, options, effect, maybeSent }
  const held = maybeSent && (await find(one))
  if (held) return held
  if ((maybeSent || effect.isOld) && (await effect.look())) return 'seen'
  // Its nonce is final without the effect, or its ledger is lost. It gets a second one only after another simulation.
  if (input.mode === 'follow') return { kind: 'refused', why: 'withdrawn', detail: 'the ledger has done with the nonce of this intent' }
  return acquireNew(one)
}

async function requestOf(deps: AcquireDeps, input: BroadcastInput): Promise<NonceRequest> {
  const { transfer, owner: workflowId, intentId, gasLimit, maxFee, tip, dataFee, callHash: expected } = input
  const intent = await endpointOf(deps, transfer).intent(transfer)
  const call = laneCall(intentId, intent)
  if (call.owner.callHash !== expected) throw new RelayerError('LANE_CONFLICT', { facts: { transfer: workflowId, lane: input.lane } })
  return {
    ...call,
    first: { kind: 'call', gasLimit, maxFee, tip, ...(dataFee !== undefined && { dataFee }) },
    priority: input.priority,
    source: `${transfer.sourceChain}/${transfer.emitter}`,
    ...(input.deadline !== undefined && { deadline: input.deadline }),
  }
}

/** The nonce that it holds, by itself or with others; undefined: none. */
async function find({ deps, agent, input, request, options }: Try): Promise<Outcome | undefined> {
  const held = await agent.find(request, options.signal)
  if (held.kind === 'acquired' || held.why !== 'none') return held
  const batch = await deps.batchRouting?.get(input.lane)?.find(input.transfer, input.intentId)
  return batch && { kind: 'member', batch }
}

/** A nonce of its own, or with others. */
async function acquireNew({ deps, agent, input, request, options, effect, maybeSent }: Try): Promise<Outcome> {
  const { transfer, lane, owner, intentId } = input
  const before = await restrictionOf(deps, transfer, lane)
  if (before) return before
  const candidate = { ...request, owner, intentId, transfer, maybeSent }
  const batched = await deps.batchRouting?.get(lane)?.enqueue(candidate, { ...options, timeoutMs: waitForBatchMs })
  if (batched?.kind === 'seen') return 'seen'
  if (batched && batched.kind !== 'alone') return batched
  const acquired = await agent.acquire(request, options)
  if (acquired.kind === 'refused') return acquired
  // The call of an earlier try may be in the very block from which on a ledger that began anew grants nonces.
  const seen = (effect.isOld || (maybeSent && effect.blockPassed)) && (await effect.look())
  // Last, right before it is signed: a halt or a closed gate that came while it waited for its nonce.
  const held = acquired.pending.unsigned ? await restrictionOf(deps, transfer, lane) : undefined
  if (!seen && !held) return acquired
  await agent.release(acquired.pending)
  return held && !seen ? held : 'seen'
}

type TryInfo = Pick<Context['info'], 'attempt' | 'currentAttemptScheduledTimestampMs' | 'heartbeatTimeoutMs'>

/** Looks at whether a transfer's effect is there, and how old the last look is. */
class EffectLooks {
  readonly #deps: AcquireDeps
  readonly #transfer: Transfer
  readonly #believedMs: number
  #at: number
  #block: string | undefined

  constructor(deps: AcquireDeps, transfer: Transfer, info: TryInfo) {
    this.#deps = deps
    this.#transfer = transfer
    this.#at = info.currentAttemptScheduledTimestampMs
    this.#believedMs = (info.heartbeatTimeoutMs ?? defaultTakeover.heartbeatMs) * believedShare
  }

  get isOld(): boolean {
    return Date.now() - this.#at > this.#believedMs
  }

  /** There is a later block than at the last look. */
  get blockPassed(): boolean {
    return this.#deps.chain.heads.current?.latest.hash !== this.#block
  }

  look(): Promise<boolean> {
    this.#at = Date.now()
    this.#block = this.#deps.chain.heads.current?.latest.hash
    return isDelivered(this.#deps.chain, endpointOf(this.#deps, this.#transfer), this.#transfer)
  }
}
