import type { Chain, Receipt } from '../chains/port.ts'
import { RelayerError } from '../domain/errors.ts'
import { gasPaid } from '../domain/fees/fees.ts'
import type { FeePolicyResolver } from '../domain/fees/policy.ts'
import { workflowOf } from '../domain/lane/intent-id.ts'
import { laneAddress, type LaneId } from '../domain/lane/lane-id.ts'
import { refusalCodes } from '../domain/lane/refusal-codes.ts'
import type { LaneAgent } from '../lanes/agent.ts'
import { laneCall } from '../lanes/lane-call.ts'
import type { Acquired, Refused } from '../lanes/nonce-requests.ts'
import type { PendingTransaction } from '../lanes/transaction/pending-transaction.ts'
import type {
  OperatorTransactionSteps,
  SendOperatorTransactionInput as Input,
  SendOperatorTransactionResult as Result,
} from '../temporal/contracts/operator-transaction.ts'
import type { Context } from '@temporalio/activity'
import { withHeartbeats } from './heartbeats.ts'
import { priceCall } from './price-call.ts'

/** Longest wait for a nonce, ms: the workflow can act on a cancel only after it. */
const waitForSlotMs = 30_000
/** Longest wait for the transaction to be final, ms; then the workflow calls again. */
const waitForFinalMs = 10_000
/** Operator transactions go after urgent deliveries and before the others. */
const priority = 2

export interface SendOperatorTransactionDeps {
  readonly agents: ReadonlyMap<LaneId, LaneAgent>
  readonly chain: Chain
  readonly fees: FeePolicyResolver
}

type Deps = SendOperatorTransactionDeps

/** The step of an operator transaction, and of a batch that no process drives; see `OperatorTransactionSteps` and `BatchSteps`. */
export function createSendOperatorTransaction(deps: Deps): OperatorTransactionSteps['sendOperatorTransaction'] {
  return (input) => withHeartbeats((context) => run(deps, input, context))
}

async function run(deps: Deps, input: Input, context: Context): Promise<Result> {
  const agent = deps.agents.get(input.lane)
  if (!agent) throw new RelayerError('LANE_NOT_FOUND', { facts: { lane: input.lane } })
  const { cancellationSignal: signal } = context
  if (input.cancel && (await agent.cancel(input.intentId)) === 'free')
    return input.lookUpOnly ? findFinal(deps, input) : { kind: 'withdrawn' }
  const acquired = await acquire(deps, agent, input, context)
  if (signal.aborted) await context.cancelled
  if (acquired.kind !== 'acquired') return acquired
  const { pending } = acquired
  if (pending.unsigned && input.members && (await agent.notFree(input.members)).length > 0) {
    // The process that got this nonce died before it had asked the members: a transfer that was let go since must not be delivered by it.
    await agent.cancel(input.intentId)
    return resultOf(pending)
  }
  await agent.signAndSend(pending)
  await pending.until((state) => state.kind === 'spent' || (state.kind === 'included' && state.final), waitForFinalMs, signal)
  if (signal.aborted) await context.cancelled
  return resultOf(pending)
}

function resultOf(pending: PendingTransaction): Result {
  const { state, nonce } = pending
  const held = { nonce, tried: pending.tried.map(({ kind, hash }) => ({ kind, hash })) }
  if (state.kind === 'pending') return { kind: 'pending', held, reason: state.note }
  if (state.kind === 'spent') return { kind: 'spent', nonce, by: state.by }
  if (!state.final || state.noop) return { kind: 'pending', held, reason: `in block ${state.receipt.block.height}, not final yet` }
  return final(nonce, state.receipt)
}

function final(nonce: number, receipt: Receipt): Result {
  const { hash, status, block } = receipt
  const where = { txHash: hash, blockHeight: block.height, blockHash: block.hash }
  return { kind: 'final', nonce, ok: status === 'success', ...where, gasPaid: gasPaid(receipt) }
}

/**
 * The ledger forgets a nonce when it is final. The hashes that were signed for it say whether it was ours; if none of them is on the chain, nothing
 * is sent again: a payment has no contract that makes its effect single.
 */
async function findFinal({ chain }: Deps, { lane, held }: Input): Promise<Result> {
  for (const { kind, hash } of held?.tried ?? []) {
    const receipt = await chain.receipt(hash)
    if (!receipt || !held) continue
    if (chain.msToFinality(receipt.block.height) > 0)
      return { kind: 'pending', held, reason: `in block ${receipt.block.height}, not final yet` }
    return kind === 'call' ? final(held.nonce, receipt) : { kind: 'spent', nonce: held.nonce, by: 'noop' }
  }
  const by = held && (await chain.mined(laneAddress(lane), held.nonce))
  const what = by ? `; its nonce ${held.nonce} was used by ${by.hash}` : ''
  const reason = 'the ledger knows nothing of it any more: look at the transactions of the account before it is ordered again'
  return { kind: 'lost', reason: `${reason}${what}` }
}

/** The nonce that it holds, whatever closes the lane; else a new one, after the call was simulated. */
async function acquire(deps: Deps, agent: LaneAgent, input: Input, context: Context): Promise<Exclude<Acquired, Refused> | Result> {
  const { info, cancellationSignal: signal } = context
  const { lane, intentId, intent, lookUpOnly, cancel } = input
  const call = laneCall(intentId, intent)
  if (lookUpOnly || info.attempt > 1) {
    const held = await agent.find(call, signal)
    if (held.kind === 'acquired') return held
    if (lookUpOnly && held.why === 'none') return findFinal(deps, input)
    if (held.why !== 'none') return refused(held)
  }
  if (cancel) return { kind: 'withdrawn' }
  const priced = await priceCall(deps, { lane, owner: workflowOf(intentId), intent })
  if (priced.kind === 'reverts') return { kind: 'impossible', reason: `it reverts: ${priced.revert.reason || priced.revert.data}` }
  if (priced.kind === 'impossible') return { kind: 'impossible', reason: `${priced.code}: ${priced.reason}` }
  if (priced.kind === 'wait') return { kind: 'no-slot', code: priced.code, reason: priced.reason }
  const request = { ...call, first: priced.first, priority, source: 'operatorTransaction', operatorTransaction: true }
  const acquired = await agent.acquire(request, { timeoutMs: waitForSlotMs, signal })
  return acquired.kind === 'acquired' ? acquired : refused(acquired)
}

function refused({ why, detail, later }: Refused): Result {
  if (later !== undefined) return { kind: 'superseded', intentId: later }
  if (why === 'withdrawn') return { kind: 'withdrawn' }
  if (why === 'conflict' || why === 'none') throw new RelayerError('LANE_CONFLICT', { detail })
  return { kind: 'no-slot', code: refusalCodes[why], reason: detail }
}
