import type { Chain, Receipt } from '../../chains/port.ts'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import { gasPaid } from '../../domain/fees/fees.ts'
import type { FeePolicyResolver } from '../../domain/fees/policy.ts'
import { workflowOf } from '../../domain/lane/intent-id.ts'
import { laneAddress, type LaneId } from '../../domain/lane/lane-id.ts'
import { refusalCodes } from '../../domain/lane/refusal-codes.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import { callHash, laneCall } from '../../lanes/lane-call.ts'
import type { Acquired, Refused } from '../../lanes/ledger/nonce-requests.ts'
import type { PendingTransaction } from '../../lanes/transaction/pending-transaction.ts'
import type {
  Held,
  OperatorTransactionSteps,
  SendOperatorTransactionInput as Input,
  SendOperatorTransactionResult as Result,
  SignedHash,
} from '../../temporal/contracts/operator-transaction.ts'
import type { Context } from '@temporalio/activity'
import { FinalNonces } from '../audit/final-nonces.ts'
import { findForgotten } from '../audit/forgotten-nonces.ts'
import { withHeartbeats } from '../heartbeats.ts'
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

interface Deps extends SendOperatorTransactionDeps {
  readonly known: FinalNonces
}

/** The step of an operator transaction, and of a batch that no process drives; see `OperatorTransactionSteps` and `BatchSteps`. */
export function createSendOperatorTransaction(given: SendOperatorTransactionDeps): OperatorTransactionSteps['sendOperatorTransaction'] {
  const deps: Deps = { ...given, known: new FinalNonces() }
  return (input) => withHeartbeats((context) => run(deps, input, context))
}

async function run(deps: Deps, input: Input, context: Context): Promise<Result> {
  const agent = deps.agents.get(input.lane)
  if (!agent) throw new RelayerError('LANE_NOT_FOUND', { facts: { lane: input.lane } })
  const { cancellationSignal: signal } = context
  if (input.cancel && (await agent.cancel(input.intentId)) === 'free')
    return input.lookUpOnly ? findFinal(deps, input) : ((await madeBefore(deps, agent, input, context)) ?? { kind: 'withdrawn' })
  const acquired = await acquire(deps, agent, input, context)
  if (signal.aborted) await context.cancelled
  if (acquired.kind !== 'acquired') return acquired
  const { pending } = acquired
  const result = () => resultOf(deps, input, pending)
  if (pending.unsigned && input.members && (await agent.notFree(input.members)).length > 0) {
    // The process that got this nonce died before it had asked the members: a transfer that was let go since must not be delivered by it.
    await agent.cancel(input.intentId)
    return result()
  }
  // What an earlier process may have sent is followed, though this one may not sign it: its nonce is in the ledger.
  await agent.signAndSend(pending).catch(unlessSentBefore(input, context))
  await pending.until((state) => state.kind === 'spent' || (state.kind === 'included' && state.final), waitForFinalMs, signal)
  if (signal.aborted) await context.cancelled
  return result()
}

/** For `catch`: an error that no retry heals says nothing about what was sent before it. Nothing else was done by this try: throws it on if it is the first. */
function unlessSentBefore({ lookUpOnly, held }: Input, { info }: Context): (error: unknown) => void {
  return (error) => {
    if (!lookUpOnly && !held && info.attempt === 1) throw error
    if (toRelayerError(error).retriable) throw error
  }
}

async function resultOf(deps: Deps, input: Input, pending: PendingTransaction): Promise<Result> {
  const { state, nonce } = pending
  const signed = pending.tried.map(({ kind, hash }) => ({ kind, hash }))
  const held = { nonce, tried: withEarlier(signed, input.held?.nonce === nonce ? input.held.tried : []) }
  if (state.kind === 'pending') return { kind: 'pending', held, reason: state.note }
  const isOver = state.kind === 'spent' || (state.final && !state.noop)
  if (!isOver) return { kind: 'pending', held, reason: `in block ${state.receipt.block.height}, not final yet` }
  return verdict(deps, input, held)
}

function withEarlier(signed: readonly SignedHash[], earlier: readonly SignedHash[]): SignedHash[] {
  return [...earlier, ...signed.filter(({ hash }) => !earlier.some((one) => one.hash === hash))]
}

/** The ledger forgets a nonce when it is final: then the chain says what became of it. What was never seen to hold one is lost if it may have held one. */
async function findFinal(deps: Deps, input: Input): Promise<Result> {
  // A run before a reset may have gone on to other nonces.
  for (const earlier of input.earlier ?? []) {
    const result = await verdict(deps, input, earlier)
    if (result.kind === 'final' || result.kind === 'pending') return result
  }
  if (input.held) return verdict(deps, input, input.held)
  return lost('The ledger knows no nonce of it, and no process has told of one.', input.lane)
}

/**
 * What became of a nonce, on the word of most nodes at finality; a payment has no contract that makes its effect single. Every hash that was ever signed for
 * it is looked for, then the transaction that used the nonce. Where they no longer tell that, nothing is sent again: `lost`.
 */
async function verdict({ chain }: Deps, { lane, intent }: Input, held: Held): Promise<Result> {
  const { nonce, tried } = held
  const address = laneAddress(lane)
  const pending = (reason: string): Result => ({ kind: 'pending', held, reason })
  try {
    const reads = tried.map(async ({ kind, hash }) => ({ kind, receipt: await chain.receipt(hash, 'agreed') }))
    const [count, found] = await Promise.all([chain.agreedNonce(address), Promise.all(reads)])
    if (count <= nonce) return pending(`nonce ${nonce} is not final yet for most nodes`)
    for (const { kind, receipt } of found) {
      if (receipt) return kind === 'call' ? final(nonce, receipt) : { kind: 'spent', nonce, by: 'noop' }
    }
    const user = await chain.mined(address, nonce)
    if (!user) return lost('The nodes no longer tell what used its nonce.', lane, held)
    if (callHash(user.call) === callHash(intent)) {
      const receipt = await chain.receipt(user.hash, 'agreed')
      return receipt ? final(nonce, receipt) : pending(`${user.hash} has no receipt yet for most nodes`)
    }
    const { to, data, value } = user.call
    return { kind: 'spent', nonce, by: to === address && data === '0x' && value === '0' ? 'noop' : 'external' }
  } catch (error) {
    const { code, message } = toRelayerError(error)
    if (code !== 'NODES_DISAGREE') throw error
    return pending(message)
  }
}

function lost(detail: string, lane: LaneId, held?: Held): Result {
  const hashes = held?.tried.map(({ hash }) => hash).join(', ')
  return { kind: 'lost', reason: new RelayerError('TRANSACTION_LOST', { detail, facts: { lane, nonce: held?.nonce, hashes } }).message }
}

function final(nonce: number, receipt: Receipt): Result {
  const { hash, status, block } = receipt
  const where = { txHash: hash, blockHeight: block.height, blockHash: block.hash }
  return { kind: 'final', nonce, ok: status === 'success', ...where, gasPaid: gasPaid(receipt) }
}

/** The nonce that it holds, whatever closes the lane; else a new one, after the call was simulated. */
async function acquire(deps: Deps, agent: LaneAgent, input: Input, context: Context): Promise<Exclude<Acquired, Refused> | Result> {
  const { info, cancellationSignal: signal } = context
  const { lane, intentId, intent, lookUpOnly, cancel, held } = input
  const call = { ...laneCall(intentId, intent), tried: held?.tried }
  if (lookUpOnly || info.attempt > 1) {
    const found = await agent.find(call, signal)
    if (found.kind === 'acquired') return (await madeInstead(deps, agent, input, context, found.pending)) ?? found
    // Also one that was withdrawn, if it held a nonce: that may be final by now, or of a ledger that is gone.
    if (lookUpOnly && (found.why === 'none' || (found.why === 'withdrawn' && found.later === undefined && held)))
      return findFinal(deps, input)
    // What an earlier try of this step sent may be final: the workflow knows what was signed.
    if (found.why === 'none') return { kind: 'none' }
    return refused(found)
  }
  if (cancel) return { kind: 'withdrawn' }
  const made = await madeBefore(deps, agent, input, context)
  if (made) return made
  const heardAt = lastHeardOf(agent)
  const priced = await priceCall(deps, { lane, owner: workflowOf(intentId), intent })
  if (priced.kind === 'reverts') return { kind: 'impossible', reason: `it reverts: ${priced.revert.reason || priced.revert.data}` }
  if (priced.kind === 'impossible') return { kind: 'impossible', reason: `${priced.code}: ${priced.reason}` }
  if (priced.kind === 'wait') return { kind: 'no-slot', code: priced.code, reason: priced.reason }
  const request = { ...call, first: priced.first, priority, source: 'operatorTransaction', operatorTransaction: true }
  const acquired = await agent.acquire(request, { timeoutMs: waitForSlotMs, signal })
  if (acquired.kind !== 'acquired') return refused(acquired)
  if (lastHeardOf(agent) === heardAt) return acquired
  // The ledger has heard of nonces that it did not give since they were looked at.
  await agent.release(acquired.pending)
  return { kind: 'no-slot', code: 'NONCE_NOT_FINAL', reason: 'the ledger has heard of nonces that it did not give; they are looked at' }
}

/** A payment that a ledger made which is gone is not made again. Of a batch the contract sees to that. */
async function madeBefore(
  { chain, known }: Deps,
  { view }: LaneAgent,
  { lane, intent, orderedAt }: Input,
  { cancellationSignal: signal }: Context,
): Promise<Result | undefined> {
  if (orderedAt === undefined) return undefined
  return findForgotten({ chain, known, signal, era: view?.era ?? 0 }, { lane, intent, orderedAt }, view?.forgotten ?? [])
}

/**
 * The same for a nonce that an earlier try was given, and of which no signature was told: the ledger may have heard of others since that try looked. If one of
 * them made the payment, or may have, this nonce does not make it: nothing is signed here, and the lane fills it unless a next try goes on with it.
 */
async function madeInstead(
  deps: Deps,
  agent: LaneAgent,
  input: Input,
  context: Context,
  pending: PendingTransaction,
): Promise<Result | undefined> {
  if (!pending.unsigned || input.held?.nonce === pending.nonce) return undefined
  const made = await madeBefore(deps, agent, input, context)
  if (!made) return undefined
  await agent.release(pending)
  if (made.kind !== 'no-slot') await agent.cancel(input.intentId)
  return made
}

function lastHeardOf({ view }: LaneAgent): number | undefined {
  return view?.forgotten?.at(-1)?.at
}

function refused({ why, detail, later }: Refused): Result {
  if (later !== undefined) return { kind: 'superseded', intentId: later }
  if (why === 'withdrawn') return { kind: 'withdrawn' }
  if (why === 'conflict' || why === 'none') throw new RelayerError('LANE_CONFLICT', { detail })
  return { kind: 'no-slot', code: refusalCodes[why], reason: detail }
}
