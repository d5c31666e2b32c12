import type { Chain, Receipt } from '../chains/port.ts'
import { RelayerError } from '../domain/errors.ts'
import type { FeePolicyResolver } from '../domain/fees/policy.ts'
import { refusalCodes } from '../domain/lane/refusal-codes.ts'
import { laneAddress } from '../domain/lane/lane-id.ts'
import type { LaneId } from '../domain/lane/lane-id.ts'
import type { Acquired, LaneAgent, NonceRequest } from '../lanes/agent.ts'
import { callHash } from '../lanes/call-hash.ts'
import type { PendingTransaction } from '../lanes/transaction/pending-transaction.ts'
import type { SendOperatorTransactionInput, SendOperatorTransactionResult } from '../temporal/contracts/operator-transaction.ts'
import { Context } from '@temporalio/activity'
import { priceCall } from './price-call.ts'
import { heartbeatPace } from './heartbeat-pace.ts'

/** Longest stay in the waiting room, then longest following, ms: so long a cancel waits to be heard. */
const waitForSlotMs = 30_000
const followMs = 10_000
/** Operators' operator transactions go after deliveries that are in a hurry, before those that are not. */
const priority = 2

export interface SendOperatorTransactionDeps {
  readonly agents: ReadonlyMap<LaneId, LaneAgent>
  readonly chain: Chain
  /** What may be spent, as it stands now. */
  readonly fees: FeePolicyResolver
}

/** The step of an operator transaction; see `OperatorTransactionSteps`. Its nonce comes from the ledger like any other, and the ledger's word is asked for first. */
export function createSendOperatorTransaction(deps: SendOperatorTransactionDeps) {
  return async function sendOperatorTransaction(input: SendOperatorTransactionInput): Promise<SendOperatorTransactionResult> {
    const context = Context.current()
    const timer = setInterval(() => context.heartbeat(), heartbeatPace(context).everyMs)
    try {
      return await run(deps, input, context)
    } finally {
      clearInterval(timer)
    }
  }
}

async function run(
  deps: SendOperatorTransactionDeps,
  input: SendOperatorTransactionInput,
  context: Context,
): Promise<SendOperatorTransactionResult> {
  const agent = deps.agents.get(input.lane)
  if (!agent) throw new RelayerError('LANE_NOT_FOUND', { facts: { lane: input.lane } })
  const { cancellationSignal: signal } = context
  const letGo = input.cancel && (await agent.cancel(input.intentId)) === 'free'
  if (letGo) return input.lookUpOnly ? forgotten(deps, input) : { kind: 'withdrawn' }
  const acquired = await acquire(deps, agent, input, context)
  if (signal.aborted) await context.cancelled
  if (acquired.kind !== 'flight') return acquired
  const { flight } = acquired
  if (flight.unsigned && input.members && (await agent.unfree(input.members)).length > 0) {
    // Whoever gave it its nonce went before it had looked: a transfer that was let go since must not be delivered by it.
    await agent.cancel(input.intentId)
    return outcome(flight)
  }
  try {
    await flight.launch()
  } catch (error) {
    await agent.giveBack(flight)
    throw error
  }
  await flight.until(({ kind, ...state }) => kind === 'spent' || ('final' in state && state.final === true), followMs, signal)
  if (signal.aborted) await context.cancelled
  return outcome(flight)
}

function outcome(flight: PendingTransaction): SendOperatorTransactionResult {
  const { state, nonce } = flight
  const held = { nonce, tried: flight.tried.map(({ kind, hash }) => ({ kind, hash })) }
  if (state.kind === 'flying') return { kind: 'pending', held, reason: state.note }
  if (state.kind === 'spent') return { kind: 'spent', nonce, by: state.by }
  if (!state.final || state.noop) return { kind: 'pending', held, reason: `in block ${state.receipt.block.height}, not final yet` }
  return final(nonce, state.receipt)
}

function final(nonce: number, { hash, status, block, gasUsed, effectiveGasPrice }: Receipt): SendOperatorTransactionResult {
  const gasPaid = String(BigInt(gasUsed) * BigInt(effectiveGasPrice))
  return { kind: 'final', nonce, ok: status === 'success', txHash: hash, blockHeight: block.height, blockHash: block.hash, gasPaid }
}

/**
 * The ledger forgets a nonce when it is final. What was signed for it says whether it was ours; if none of that is on the chain, nothing is sent
 * again: a payment has no contract that makes its effect single.
 */
async function forgotten(
  { chain }: SendOperatorTransactionDeps,
  { lane, held }: SendOperatorTransactionInput,
): Promise<SendOperatorTransactionResult> {
  for (const { kind, hash } of held?.tried ?? []) {
    const receipt = await chain.receipt(hash)
    if (!receipt || !held) continue
    if (chain.msToFinality(receipt.block.height) > 0)
      return { kind: 'pending', held, reason: `in block ${receipt.block.height}, not final yet` }
    return kind === 'call' ? final(held.nonce, receipt) : { kind: 'spent', nonce: held.nonce, by: 'noop' }
  }
  const by = held && (await chain.mined(laneAddress(lane), held.nonce))
  const what = by ? `; its nonce ${held.nonce} was used by ${by.hash}` : ''
  return { kind: 'lost', reason: `${lostText}${what}` }
}

/** What it holds already, past everything; else a nonce, after the call was simulated. */
async function acquire(
  deps: SendOperatorTransactionDeps,
  agent: LaneAgent,
  input: SendOperatorTransactionInput,
  context: Context,
): Promise<Extract<Acquired, { kind: 'flight' }> | SendOperatorTransactionResult> {
  const { lane, owner: workflowId, intentId, intent, lookUpOnly, cancel } = input
  const signal = context.cancellationSignal
  const value = intent.value !== '0' && { value: intent.value }
  const about = {
    owner: { intentId, callHash: callHash(intent), ...value },
    intent,
    priority,
    source: 'operatorTransaction',
    operatorTransaction: true,
  }
  if (lookUpOnly || context.info.attempt > 1) {
    const held = await agent.find(about, signal)
    if (held.kind === 'flight') return held
    if (lookUpOnly && held.why === 'none') return forgotten(deps, input)
    if (held.why !== 'none') return refused(held)
  }
  if (cancel) return { kind: 'withdrawn' }
  const priced = await priceCall(deps, { lane, owner: workflowId, intent })
  if (priced.kind === 'reverts') return { kind: 'impossible', reason: `it reverts: ${priced.revert.reason || priced.revert.data}` }
  if (priced.kind === 'impossible') return { kind: 'impossible', reason: `${priced.code}: ${priced.reason}` }
  if (priced.kind === 'wait') return { kind: 'no-slot', code: priced.code, reason: priced.reason }
  const want: NonceRequest = { ...about, first: priced.first }
  const acquired = await agent.acquire(want, { timeoutMs: waitForSlotMs, signal })
  return acquired.kind === 'flight' ? acquired : refused(acquired)
}

const lostText = 'the ledger knows nothing of it any more: look at the transactions of the account before it is ordered again'

function refused({ why, detail, later }: Extract<Acquired, { kind: 'refused' }>): SendOperatorTransactionResult {
  if (later !== undefined) return { kind: 'superseded', intentId: later }
  if (why === 'withdrawn') return { kind: 'withdrawn' }
  if (why === 'conflict' || why === 'none') throw new RelayerError('LANE_CONFLICT', { detail })
  return { kind: 'no-slot', code: refusalCodes[why], reason: detail }
}
