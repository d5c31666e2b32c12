import { RelayerError } from '../../domain/errors.ts'
import { gasPaid } from '../../domain/fees/fees.ts'
import { refusalCodes } from '../../domain/lane/refusal-codes.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import type { Acquired } from '../../lanes/nonce-requests.ts'
import type { PendingTransaction, PendingTransactionState } from '../../lanes/transaction/pending-transaction.ts'
import { failpoint } from '../../observability/failpoints.ts'
import type { BroadcastInput, BroadcastResult, Landed } from '../../temporal/contracts/transfer-steps.ts'
import { acquire, type BroadcastDeps } from './acquire-nonce.ts'
import { endpointOf } from '../deps.ts'
import { isFinal } from './delivery-checks.ts'
import { asMember, isUseless } from '../batch/member-result.ts'
import { heartbeatPace } from '../heartbeat-pace.ts'
import { Context } from '@temporalio/activity'

/** Longest following, ms: then the slot goes to another, and the workflow waits for free. */
const followMs = 30_000
/** Between two looks at a transaction that is on its way, ms. */
const lookMs = 3_000
/** A refusal that only time mends: look again after this, ms. */
const retryMs = 5_000

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
  const acquired = await acquire(deps, agent, input, context)
  if (context.cancellationSignal.aborted) await context.cancelled
  if (acquired === 'seen') return { kind: 'seen' }
  if (acquired.kind === 'no-slot') return acquired
  if (acquired.kind === 'refused') return refused(acquired)

  const batch = acquired.kind === 'member' ? acquired.batch : undefined
  const pending = acquired.kind === 'member' ? acquired.batch.pending : acquired.pending
  phases.enter(batch ? `nonce ${pending.nonce} in ${batch.id}` : `nonce ${pending.nonce}`)
  if (!batch) await signAndSend(agent, pending)
  const sent = Date.now()
  for (;;) {
    phases.enter(`following nonce ${pending.nonce}, ${pending.attempts} attempts`)
    await landed(pending, agent, sent + followMs, context.cancellationSignal)
    if (context.cancellationSignal.aborted) await context.cancelled
    // Its nonce is used up though that is not final: the others of the batch do not wait for one that is in their way.
    if (batch && isUseless(pending.state, endpointOf(deps, input.transfer), input.transfer)) return { kind: 'seen' }
    const result = await outcome(pending, input, deps, sent + followMs, context.cancellationSignal)
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

/** Follows into a block until then. Where the lane was forbidden the workflow is told sooner: another lane may deliver. */
async function landed(pending: PendingTransaction, agent: LaneAgent, until: number, signal: AbortSignal): Promise<void> {
  const down = (state: PendingTransactionState) => state.kind !== 'pending'
  while (Date.now() < until && !signal.aborted && agent.view?.closed?.why !== 'forbidden') {
    if (await pending.until(down, Math.min(lookMs, until - Date.now()), signal)) return
  }
}

/** What the pending's state means for the transfer; undefined: it fell out of its block while we looked, follow on. */
async function outcome(
  pending: PendingTransaction,
  { transfer }: BroadcastInput,
  deps: BroadcastDeps,
  until: number,
  signal: AbortSignal,
): Promise<BroadcastResult | undefined> {
  const { state } = pending
  if (state.kind === 'pending') return { kind: 'pending', nonce: pending.nonce, attempts: pending.attempts, reason: state.note }
  if (state.kind === 'spent') return { kind: 'spent', nonce: pending.nonce, by: state.by }
  const finalInMs = state.final ? 0 : deps.chain.msToFinality(state.receipt.block.height)
  if (!state.final && Date.now() + finalInMs <= until) await pending.until(fate, until - Date.now(), signal)
  const now = pending.state
  if (now.kind === 'pending')
    return Date.now() < until ? undefined : { kind: 'pending', nonce: pending.nonce, attempts: pending.attempts, reason: now.note }
  if (now.kind === 'spent') return { kind: 'spent', nonce: pending.nonce, by: now.by }
  const landed = landing(pending, now)
  if (!now.final) return { kind: 'included', landed, finalInMs: deps.chain.msToFinality(now.receipt.block.height) }
  return judged(deps, transfer, { landed, works: !now.noop && endpointOf(deps, transfer).hasEffect(now.receipt, transfer) })
}

/** Our transaction is final. Its receipt is one look; what ends a transfer, or a round of it, is the effect itself. */
async function judged(
  { bridges, chain }: BroadcastDeps,
  transfer: Transfer,
  { landed, works }: { landed: Landed; works: boolean },
): Promise<BroadcastResult> {
  const endpoint = endpointOf({ bridges }, transfer)
  const shows = await isFinal(chain, endpoint, transfer)
  if (shows && works) return { kind: 'delivered', landed }
  // By someone else before us; or the receipt was a lie, and it was us.
  if (shows) return { kind: 'seen' }
  const nowhere = shows === false && !works && !(await endpoint.delivered(transfer, 'latest'))
  if (nowhere) return { kind: 'reverted', landed, reason: `transaction ${landed.txHash} reverted` }
  return { kind: 'included', landed, finalInMs: chain.blockTimeMs }
}

/** Final, or back in pending. */
function fate(state: PendingTransactionState): boolean {
  return state.kind !== 'included' || state.final
}

function landing(pending: PendingTransaction, { receipt }: Extract<PendingTransactionState, { kind: 'included' }>): Landed {
  const { height: blockHeight, hash: blockHash } = receipt.block
  const { nonce, attempts, tried } = pending
  return { nonce, txHash: receipt.hash, blockHeight, blockHash, gasPaid: gasPaid(receipt), attempts, tried }
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

/** Heartbeats tell the phase in the Web UI and find a dead worker. A healthy transfer is through before the first, which would cost a state transition. */
function beat(context: Context): Phases {
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
