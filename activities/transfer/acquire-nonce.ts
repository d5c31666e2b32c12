import type { Bridges } from '../../bridges/port.ts'
import type { Chain } from '../../chains/port.ts'
import { RelayerError } from '../../domain/errors.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Acquired, LaneAgent, NonceRequest } from '../../lanes/agent.ts'
import { callHash } from '../../lanes/call-hash.ts'
import type { Batch } from '../../lanes/batch/batch-tracker.ts'
import type { BroadcastInput, BroadcastResult } from '../../temporal/contracts/transfer-steps.ts'
import { type BatchRouting, waitForBatchMs } from '../batch/batch-routing.ts'
import type { StepDeps } from '../deps.ts'
import { endpointOf } from '../deps.ts'
import { isDelivered } from './delivery-checks.ts'
import { restrictionOf } from './restrictions.ts'
import type { Context } from '@temporalio/activity'

/** Longest stay in the waiting room, ms: then the slot goes to another, and the workflow waits for free. */
const waitForSlotMs = 60_000
/**
 * So long, of the heartbeat time-out, the admission is believed that nobody has delivered: a process that was stopped for longer than that time-out wakes
 * up to tries that others have taken over and ended.
 */
const believedShare = 0.8
type NoSlot = Extract<BroadcastResult, { kind: 'no-slot' }>

export interface BroadcastDeps {
  readonly bridges: Bridges
  readonly agents: ReadonlyMap<LaneId, LaneAgent>
  /** The lane's. */
  readonly chain: Chain
  readonly settings: StepDeps['settings']
  /** By lane; absent: nothing shares a call. */
  readonly batching?: ReadonlyMap<LaneId, BatchRouting>
}

/** It is in a call with others, which has its nonce, or may get it. */
interface Ride {
  readonly kind: 'ride'
  readonly batch: Batch
}

/** A nonce, alone or with others; or why there is none. `seen`: somebody has delivered. */
type Got = Acquired | Ride | 'seen' | NoSlot

/** What one try of the step works with. */
interface Try {
  readonly deps: BroadcastDeps
  readonly agent: LaneAgent
  readonly input: BroadcastInput
  readonly want: NonceRequest
  readonly options: { readonly timeoutMs: number; readonly signal: AbortSignal }
  readonly looks: Looks
  /** It may have sent a call already, whatever the ledger knows of that. */
  readonly maybeSent: boolean
}

/**
 * A try that may have had a nonce asks for that first. If there is none, or if it comes late, the chain is asked: where the effect is there,
 * no nonce is wasted on it. A halt holds back whatever has no nonce yet; what has one goes on, since the nonce is the lane's debt.
 */
export async function acquire(deps: BroadcastDeps, agent: LaneAgent, input: BroadcastInput, context: Context): Promise<Got> {
  const want = await wantOf(deps, input)
  const options = { timeoutMs: waitForSlotMs, signal: context.cancellationSignal }
  const looks = new Looks(deps, input.transfer, context.info)
  const maybeSent = input.mode !== 'new' || context.info.attempt > 1
  const one: Try = { deps, agent, input, want, options, looks, maybeSent }
  const held = maybeSent && (await heldAlready(one))
  if (held) return held
  if ((maybeSent || looks.late) && (await looks.again())) return 'seen'
  // It had a nonce before: that is final without the effect, or its ledger is lost. No second one before it was simulated again.
  if (input.mode === 'follow') return { kind: 'refused', why: 'withdrawn', detail: 'the ledger has done with the nonce of this intent' }
  return anew(one)
}

async function wantOf(deps: BroadcastDeps, input: BroadcastInput): Promise<NonceRequest> {
  const { transfer, owner: workflowId, intentId, gasLimit, maxFee, tip, dataFee, callHash: expected } = input
  const intent = await endpointOf(deps, transfer).intent(transfer)
  if (callHash(intent) !== expected) throw new RelayerError('LANE_CONFLICT', { facts: { transfer: workflowId, lane: input.lane } })
  return {
    owner: { intentId, callHash: expected, ...(intent.value !== '0' && { value: intent.value }) },
    intent,
    first: { kind: 'call', gasLimit, maxFee, tip, ...(dataFee !== undefined && { dataFee }) },
    priority: input.priority,
    source: `${transfer.sourceChain}/${transfer.emitter}`,
    ...(input.deadline !== undefined && { deadline: input.deadline }),
  }
}

/** The nonce that it has, by itself or with others; undefined: none. */
async function heldAlready({ deps, agent, input, want, options }: Try): Promise<Got | undefined> {
  const held = await agent.find(want, options.signal)
  if (held.kind === 'flight' || held.why !== 'none') return held
  const batch = await deps.batching?.get(input.lane)?.find(input.transfer, input.intentId)
  return batch && { kind: 'ride', batch }
}

/** A nonce of its own, or with others. */
async function anew({ deps, agent, input, want, options, looks, maybeSent }: Try): Promise<Got> {
  const { transfer, lane, owner, intentId } = input
  const before = await restrictionOf(deps, transfer, lane)
  if (before) return before
  const boarding = { ...options, timeoutMs: waitForBatchMs }
  const boarded = await deps.batching?.get(lane)?.board({ ...want, owner, intentId, transfer, maybeSent }, boarding)
  if (boarded?.kind === 'seen') return 'seen'
  if (boarded && boarded.kind !== 'alone') return boarded
  const acquired = await agent.acquire(want, options)
  if (acquired.kind === 'refused') return acquired
  // A ledger that began anew gives nonces from the block on in which an earlier try's call may be.
  const seen = (looks.late || (maybeSent && looks.passed)) && (await looks.again())
  // Last, right before it is signed: a halt that came while it waited for its nonce, or a gate that closed.
  const held = acquired.flight.unsigned ? await restrictionOf(deps, transfer, lane) : undefined
  if (!seen && !held) return acquired
  await agent.giveBack(acquired.flight)
  return held && !seen ? held : 'seen'
}

/** When it was last seen that nobody has delivered. */
class Looks {
  readonly #deps: BroadcastDeps
  readonly #transfer: Transfer
  #at: number
  #block: string | undefined

  readonly #believedMs: number

  constructor(deps: BroadcastDeps, transfer: Transfer, info: Context['info']) {
    this.#deps = deps
    this.#transfer = transfer
    this.#at = info.currentAttemptScheduledTimestampMs
    this.#believedMs = (info.heartbeatTimeoutMs ?? 10_000) * believedShare
  }

  get late(): boolean {
    return Date.now() - this.#at > this.#believedMs
  }

  /** There is a later block than at the last look. */
  get passed(): boolean {
    return this.#deps.chain.heads.current?.latest.hash !== this.#block
  }

  again(): Promise<boolean> {
    this.#at = Date.now()
    this.#block = this.#deps.chain.heads.current?.latest.hash
    return isDelivered(this.#deps.chain, endpointOf(this.#deps, this.#transfer), this.#transfer)
  }
}
