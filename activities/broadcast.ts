import type { Bridges } from '../bridges/port.ts'
import type { Chain } from '../chains/port.ts'
import { RelayerError } from '../domain/errors.ts'
import type { LaneId } from '../domain/lane-id.ts'
import type { Transfer } from '../domain/transfer.ts'
import type { Acquired, LaneAgent, Want } from '../lanes/agent.ts'
import { callHash } from '../lanes/call-hash.ts'
import type { Batch } from '../lanes/batches.ts'
import type { Flight, FlightState } from '../lanes/flight.ts'
import { failpoint } from '../observability/failpoints.ts'
import type { BroadcastInput, BroadcastResult, Landed, StepTiming } from '../temporal/steps.ts'
import { type Batching, waitForBatchMs } from './batching.ts'
import type { StepDeps } from './deps.ts'
import { endpointOf } from './deps.ts'
import { effectBeside, effectNow } from './effect.ts'
import { heldBack } from './gate.ts'
import { asMember, isUseless } from './membership.ts'
import { refusalCodes } from './refusal-codes.ts'
import { Context } from '@temporalio/activity'

/** Longest stay in the waiting room, then longest following, ms: then the slot goes to another, and the workflow waits for free. */
const waitForSlotMs = 60_000
const followMs = 30_000
/** A healthy transfer is through before its first heartbeat, which would cost a state transition. */
const firstHeartbeatMs = 4_000
const heartbeatMs = 3_000
/**
 * So long, ms, the admission is believed that nobody has delivered: less than the heartbeat time-out, since a process that was stopped for
 * longer wakes up to tries that others have taken over and ended.
 */
const believedMs = 8_000
/** A refusal that only time mends: look again after this, ms. */
const retryMs = 5_000

type NoSlot = Extract<BroadcastResult, { kind: 'no-slot' }>

export interface BroadcastDeps {
  readonly bridges: Bridges
  readonly agents: ReadonlyMap<LaneId, LaneAgent>
  /** The lane's. */
  readonly chain: Chain
  readonly settings: StepDeps['settings']
  /** By lane; absent: nothing shares a call. */
  readonly batching?: ReadonlyMap<LaneId, Batching>
}

/** It is in a call with others, which has its nonce, or may get it. */
interface Ride {
  readonly kind: 'ride'
  readonly batch: Batch
}

/**
 * Step 4, on the lane's queue: gets the nonce from the ledger, signs, sends, follows into a block and, where finality is near, to finality.
 * Killed at any point, its next try is given the same nonce and makes the same bytes.
 */
export function createBroadcast(deps: BroadcastDeps) {
  return async function broadcast(input: BroadcastInput): Promise<BroadcastResult> {
    const context = Context.current()
    const phases = beat(context)
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
  const agent = deps.agents.get(input.lane)
  if (!agent) throw new RelayerError('LANE_NOT_FOUND', { facts: { lane: input.lane } })
  const started = Date.now()
  const acquired = await acquire(deps, agent, input, context)
  if (context.cancellationSignal.aborted) await context.cancelled
  if (acquired === 'seen') return { kind: 'seen' }
  if (acquired.kind === 'no-slot') return acquired
  if (acquired.kind === 'refused') return refused(acquired)

  const batch = acquired.kind === 'ride' ? acquired.batch : undefined
  const flight = acquired.kind === 'ride' ? acquired.batch.flight : acquired.flight
  const granted = Date.now()
  phases.enter(batch ? `nonce ${flight.nonce} in ${batch.id}` : `nonce ${flight.nonce}`)
  if (!batch) await launch(agent, flight)
  const sent = Date.now()
  for (;;) {
    phases.enter(`following nonce ${flight.nonce}, ${flight.attempts} attempts`)
    await landed(flight, agent, sent + followMs, context.cancellationSignal)
    if (context.cancellationSignal.aborted) await context.cancelled
    // Its nonce is used up though that is not final: the others of the batch do not wait for one that is in their way.
    if (batch && isUseless(flight.state, endpointOf(deps, input.transfer), input.transfer)) return { kind: 'seen' }
    const timing = { grantMs: granted - started, sentMs: sent - granted, includedMs: Date.now() - sent }
    const result = await outcome(flight, input, deps, timing, sent + followMs, context.cancellationSignal)
    if (result) return batch ? asMember(batch, result) : result
  }
}

async function launch(agent: LaneAgent, flight: Flight): Promise<void> {
  try {
    await flight.launch()
  } catch (error) {
    await agent.giveBack(flight)
    throw error
  }
}

/** Follows into a block until then. Where the lane was forbidden the workflow is told sooner: another lane may deliver. */
async function landed(flight: Flight, agent: LaneAgent, until: number, signal: AbortSignal): Promise<void> {
  const down = (state: FlightState) => state.kind !== 'flying'
  while (Date.now() < until && !signal.aborted && agent.view?.closed?.why !== 'forbidden') {
    if (await flight.until(down, Math.min(heartbeatMs, until - Date.now()), signal)) return
  }
}

/** What the flight's state means for the transfer; undefined: it fell out of its block while we looked, follow on. */
async function outcome(
  flight: Flight,
  { transfer }: BroadcastInput,
  deps: BroadcastDeps,
  timing: StepTiming,
  until: number,
  signal: AbortSignal,
): Promise<BroadcastResult | undefined> {
  const { state } = flight
  if (state.kind === 'flying') return { kind: 'pending', nonce: flight.nonce, attempts: flight.attempts, reason: state.note }
  if (state.kind === 'spent') return { kind: 'spent', nonce: flight.nonce, by: state.by }
  const finalInMs = state.final ? 0 : deps.chain.msToFinality(state.receipt.block.height)
  if (!state.final && Date.now() + finalInMs <= until) await flight.until(fate, until - Date.now(), signal)
  const now = flight.state
  if (now.kind === 'flying')
    return Date.now() < until ? undefined : { kind: 'pending', nonce: flight.nonce, attempts: flight.attempts, reason: now.note }
  if (now.kind === 'spent') return { kind: 'spent', nonce: flight.nonce, by: now.by }
  const landed = landing(flight, now)
  if (!now.final) return { kind: 'included', landed, finalInMs: deps.chain.msToFinality(now.receipt.block.height), timing }
  return judged(deps, transfer, { landed, works: !now.noop && endpointOf(deps, transfer).hasEffect(now.receipt, transfer), timing })
}

/** Our transaction is final. Its receipt is one look; what ends a transfer, or a round of it, is the effect itself. */
async function judged(
  { bridges, chain }: BroadcastDeps,
  transfer: Transfer,
  { landed, works, timing }: { landed: Landed; works: boolean; timing: StepTiming },
): Promise<BroadcastResult> {
  const endpoint = endpointOf({ bridges }, transfer)
  const shows = await effectBeside(chain, endpoint, transfer)
  if (shows && works) return { kind: 'delivered', landed, timing }
  // By someone else before us; or the receipt was a lie, and it was us.
  if (shows) return { kind: 'seen' }
  const nowhere = shows === false && !works && !(await endpoint.delivered(transfer, 'latest'))
  if (nowhere) return { kind: 'reverted', landed, reason: `transaction ${landed.txHash} reverted` }
  return { kind: 'included', landed, finalInMs: chain.blockTimeMs, timing }
}

/** Final, or back in flight. */
function fate(state: FlightState): boolean {
  return state.kind !== 'included' || state.final
}

function landing(flight: Flight, { receipt }: Extract<FlightState, { kind: 'included' }>): Landed {
  const gasPaid = String(BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice))
  const { height: blockHeight, hash: blockHash } = receipt.block
  const { nonce, attempts, tried } = flight
  return { nonce, txHash: receipt.hash, blockHeight, blockHash, gasPaid, attempts, tried }
}

type Got = Acquired | Ride | 'seen' | NoSlot

/** What one try of the step works with. */
interface Try {
  readonly deps: BroadcastDeps
  readonly agent: LaneAgent
  readonly input: BroadcastInput
  readonly want: Want
  readonly options: { readonly timeoutMs: number; readonly signal: AbortSignal }
  readonly looks: Looks
}

/**
 * A try that may have had a nonce asks for that first. If there is none, or if it comes late, the chain is asked: where the effect is there,
 * no nonce is wasted on it. A halt holds back whatever has no nonce yet; what has one goes on, since the nonce is the lane's debt.
 */
async function acquire(deps: BroadcastDeps, agent: LaneAgent, input: BroadcastInput, context: Context): Promise<Got> {
  const want = await wantOf(deps, input)
  const options = { timeoutMs: waitForSlotMs, signal: context.cancellationSignal }
  const looks = new Looks(deps, input.transfer, context.info.currentAttemptScheduledTimestampMs)
  const one: Try = { deps, agent, input, want, options, looks }
  const again = input.again || input.requeued || context.info.attempt > 1
  const held = again && (await heldAlready(one))
  if (held) return held
  if ((again || looks.late) && (await looks.again())) return 'seen'
  // It had a nonce before: that is final without the effect, or its ledger is lost. No second one before it was simulated again.
  if (input.again) return { kind: 'refused', why: 'withdrawn', detail: 'the ledger has done with the nonce of this intent' }
  return anew(one)
}

async function wantOf(deps: BroadcastDeps, input: BroadcastInput): Promise<Want> {
  const { transfer, owner: workflowId, intentId, gasLimit, maxFee, tip, dataFee, callHash: expected } = input
  const intent = await endpointOf(deps, transfer).intent(transfer)
  if (callHash(intent) !== expected) throw new RelayerError('LANE_CONFLICT', { facts: { transfer: workflowId, lane: input.lane } })
  return {
    owner: { workflowId, intentId, callHash: expected, ...(intent.value !== '0' && { value: intent.value }) },
    intent,
    first: { kind: 'call', gasLimit, maxFee, tip, ...(dataFee !== undefined && { dataFee }) },
    priority: input.priority,
    source: `${transfer.sourceChain}/${transfer.emitter}`,
    ...(input.deadline !== undefined && { deadline: input.deadline }),
  }
}

/** The nonce that it has, by itself or with others; undefined: none. */
async function heldAlready({ deps, agent, input, want, options }: Try): Promise<Got | undefined> {
  const held = await agent.acquire(want, { ...options, again: true })
  if (held.kind === 'flight' || held.why !== 'none') return held
  const batch = await deps.batching?.get(input.lane)?.find(input.transfer, input.intentId)
  return batch && { kind: 'ride', batch }
}

/** A nonce of its own, or with others. */
async function anew({ deps, agent, input, want, options, looks }: Try): Promise<Got> {
  const { transfer, lane, owner, intentId } = input
  const before = await heldBack(deps, transfer, lane)
  if (before) return before
  const boarding = { ...options, timeoutMs: waitForBatchMs }
  const boarded = await deps.batching?.get(lane)?.board({ ...want, owner, intentId, transfer }, boarding)
  if (boarded?.kind === 'seen') return 'seen'
  if (boarded && boarded.kind !== 'alone') return boarded
  const acquired = await agent.acquire(want, { ...options, again: false })
  if (acquired.kind === 'refused') return acquired
  const seen = looks.late && (await looks.again())
  // Last, right before it is signed: a halt that came while it waited for its nonce, or a gate that closed.
  const held = acquired.flight.unsigned ? await heldBack(deps, transfer, lane) : undefined
  if (!seen && !held) return acquired
  await agent.giveBack(acquired.flight)
  return held && !seen ? held : 'seen'
}

/** When it was last seen that nobody has delivered. */
class Looks {
  readonly #deps: BroadcastDeps
  readonly #transfer: Transfer
  #at: number

  constructor(deps: BroadcastDeps, transfer: Transfer, at: number) {
    this.#deps = deps
    this.#transfer = transfer
    this.#at = at
  }

  get late(): boolean {
    return Date.now() - this.#at > believedMs
  }

  again(): Promise<boolean> {
    this.#at = Date.now()
    return effectNow(this.#deps.chain, endpointOf(this.#deps, this.#transfer), this.#transfer)
  }
}

function refused({ why, detail }: Extract<Acquired, { kind: 'refused' }>): BroadcastResult {
  if (why === 'withdrawn') return { kind: 'withdrawn' }
  if (why === 'conflict') throw new RelayerError('LANE_CONFLICT', { detail })
  return { kind: 'no-slot', code: refusalCodes[why], reason: `${why}: ${detail}`, retryInMs: retryMs }
}

interface Phases {
  enter(phase: string): void
  end(): void
}

/** Heartbeats tell the phase in the Web UI and find a dead worker. */
function beat(context: Context): Phases {
  const phases: { at: string; phase: string }[] = []
  let timer = setTimeout(function tick() {
    context.heartbeat(phases)
    timer = setTimeout(tick, heartbeatMs)
  }, firstHeartbeatMs)
  return {
    enter: (phase) => {
      if (phases.at(-1)?.phase !== phase) phases.push({ at: new Date().toISOString(), phase })
    },
    end: () => clearTimeout(timer),
  }
}
