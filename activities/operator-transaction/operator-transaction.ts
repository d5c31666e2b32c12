import type { Chain } from '../../chains/port.ts'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import type { FeePolicyResolver } from '../../domain/fees/fees.ts'
import { workflowOf, laneAddress } from '../../domain/lane/lane.ts'
import { refusalCodes } from '../../domain/lane/messages.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import { callHash, laneCall } from '../../lanes/deps.ts'
import type { Acquired, Refused } from '../../lanes/ledger/nonce-requests.ts'
import type { PendingTransaction } from '../../lanes/transaction/pending-transaction.ts'
import {
  type Held,
  mergeHeld,
  type SendOperatorTransactionInput as Input,
  type SendOperatorTransactionResult as Result,
} from '../../temporal/contracts/operator-transaction.ts'
import type { Context } from '@temporalio/activity'
import { FinalNonces, finalResult, findForgotten, lostResult } from './forgotten-nonces.ts'
import type { BeatingStep } from '../run-step.ts'
import { priceCall } from '../checks/price-call.ts'

/** Maximum wait for a nonce, ms. The workflow acts on a cancel only after this wait. */
const waitForSlotMs = 30_000
const waitForFinalMs = 10_000
/** Operator transactions come after deliveries with priority 1, and before deliveries with the default priority (3). */
const priority = 2

export interface SendOperatorTransactionDeps {
  readonly agent: LaneAgent
  readonly chain: Chain
  readonly fees: FeePolicyResolver
}

interface Try extends SendOperatorTransactionDeps {
  readonly known: FinalNonces
  readonly input: Input
  readonly context: Context
}

export function createSendOperatorTransaction(deps: SendOperatorTransactionDeps): BeatingStep<Input, Result> {
  const known = new FinalNonces()
  return async (input, context) => {
    if (deps.agent.lane !== input.lane) throw new RelayerError('LANE_NOT_FOUND', { facts: { lane: input.lane } })
    return run({ ...deps, known, input, context })
  }
}

async function run(one: Try): Promise<Result> {
  const { agent, input, context } = one
  const { cancellationSignal: signal } = context
  if (input.cancel && (await agent.cancel(input.intentId)) === 'free')
    return input.lookUpOnly ? findFinal(one) : ((await madeBefore(one)) ?? { kind: 'withdrawn' })
  const acquired = await acquire(one)
  if (signal.aborted) await context.cancelled
  if (acquired.kind !== 'acquired') return acquired
  const { pending } = acquired
  if (pending.unsigned && input.members && (await agent.notFree(input.members)).length > 0) {
    // The process that got this nonce died before it checked the members, and by now not all members are free.
    await agent.cancel(input.intentId)
    return resultOf(one, pending)
  }
  await pending.signAndSend().catch(async (error: unknown) => {
    await agent.giveUp(pending, error)
    // If an earlier try may have sent the transaction, this try waits for its result.
    const maybeSent = input.lookUpOnly || input.held !== undefined || context.info.attempt > 1
    if (!maybeSent || toRelayerError(error).retriable) throw error
  })
  await pending.until((state) => state.kind === 'spent' || (state.kind === 'included' && state.final), waitForFinalMs, signal)
  if (signal.aborted) await context.cancelled
  return resultOf(one, pending)
}

async function resultOf(one: Try, pending: PendingTransaction): Promise<Result> {
  const { held: before } = one.input
  const { state, nonce } = pending
  const tried = pending.tried.map(({ kind, hash }) => ({ kind, hash }))
  const held = mergeHeld(before?.nonce === nonce ? before : undefined, { nonce, tried })
  if (state.kind === 'pending') return { kind: 'pending', held, reason: state.note }
  const isOver = state.kind === 'spent' || (state.final && !state.noop)
  if (!isOver) return { kind: 'pending', held, reason: `in block ${state.receipt.block.height}, not final yet` }
  return verdict(one, held)
}

/** Reads the result from the chain, because the ledger forgets final nonces. `lost`: no nonce is known. */
async function findFinal(one: Try): Promise<Result> {
  const { input } = one
  // Before a reset of the workflow, its runs may have held other nonces.
  for (const earlier of input.earlier ?? []) {
    const result = await verdict(one, earlier)
    if (result.kind === 'final' || result.kind === 'pending') return result
  }
  if (input.held) return verdict(one, input.held)
  return lostResult('The ledger knows no nonce of this transaction, and no process has reported one.', { lane: input.lane })
}

/**
 * The result of the call with this nonce. Most nodes must show the nonce as final, because no contract prevents a
 * second payment.
 */
async function verdict({ chain, input: { lane, intent } }: Try, held: Held): Promise<Result> {
  const { nonce, tried } = held
  const address = laneAddress(lane)
  const pending = (reason: string): Result => ({ kind: 'pending', held, reason })
  try {
    const reads = tried.map(async ({ kind, hash }) => ({ kind, receipt: await chain.receipt(hash, 'agreed') }))
    const [count, found] = await Promise.all([chain.agreedNonce(address), Promise.all(reads)])
    if (count <= nonce) return pending(`most nodes do not show nonce ${nonce} as final yet`)
    for (const { kind, receipt } of found) {
      if (receipt) return kind === 'call' ? finalResult(nonce, receipt) : { kind: 'spent', nonce, by: 'noop' }
    }
    const user = await chain.mined(address, nonce)
    if (!user) {
      const hashes = tried.map(({ hash }) => hash).join(', ')
      return lostResult('The nodes no longer have the transaction that used its nonce.', { lane, nonce, hashes })
    }
    if (callHash(user.call) === callHash(intent)) {
      const receipt = await chain.receipt(user.hash, 'agreed')
      return receipt ? finalResult(nonce, receipt) : pending(`most nodes have no receipt of ${user.hash} yet`)
    }
    const { to, data, value } = user.call
    return { kind: 'spent', nonce, by: to === address && data === '0x' && value === '0' ? 'noop' : 'external' }
  } catch (error) {
    const { code, message } = toRelayerError(error)
    if (code !== 'NODES_DISAGREE') throw error
    return pending(message)
  }
}

async function acquire(one: Try): Promise<Exclude<Acquired, Refused> | Result> {
  const { agent, input } = one
  const { info, cancellationSignal: signal } = one.context
  const { lane, intentId, intent, lookUpOnly, cancel, held } = input
  const call = { ...laneCall(intentId, intent), tried: held?.tried }
  if (lookUpOnly || info.attempt > 1) {
    const found = await agent.find(call, signal)
    if (found.kind === 'acquired') return (await madeInstead(one, found.pending)) ?? found
    // The chain gives the result, because the ledger forgets final nonces and does not know an earlier ledger's nonces.
    if (lookUpOnly && (found.why === 'none' || (found.why === 'withdrawn' && found.later === undefined && held))) return findFinal(one)
    // An earlier try may have sent a transaction that is final by now. Only the workflow knows whether such a
    // transaction was reported, so the workflow decides.
    if (found.why === 'none') return { kind: 'none' }
    return refused(found)
  }
  if (cancel) return { kind: 'withdrawn' }
  const made = await madeBefore(one)
  if (made) return made
  if (!(await isStillBelow(one))) return { kind: 'impossible', reason: 'the account has its minimum: nothing was sent' }
  const knownUntil = lastForgotten(agent)
  const priced = await priceCall(one, { lane, owner: workflowOf(intentId), intent })
  if (priced.kind === 'reverts') return { kind: 'impossible', reason: `it reverts: ${priced.revert.reason || priced.revert.data}` }
  if (priced.kind === 'impossible') return { kind: 'impossible', reason: `${priced.code}: ${priced.reason}` }
  if (priced.kind === 'wait') return { kind: 'no-slot', code: priced.code, reason: priced.reason }
  const request = { ...call, first: priced.first, priority, source: 'operatorTransaction', operatorTransaction: true }
  const acquired = await agent.acquire(request, { timeoutMs: waitForSlotMs, signal })
  if (acquired.kind !== 'acquired') return refused(acquired)
  if (lastForgotten(agent) === knownUntil) return acquired
  await agent.release(acquired.pending)
  return { kind: 'no-slot', code: 'NONCE_NOT_FINAL', reason: 'the ledger has learnt of nonces that it did not grant; they are being read' }
}

/** Whether an automatic top-up is still needed. While it waited, another payment may have raised the balance. */
async function isStillBelow({ chain, input: { onlyBelow } }: Try): Promise<boolean> {
  return !onlyBelow || BigInt(await chain.balanceOf(onlyBelow.address)) < BigInt(onlyBelow.minimum)
}

/**
 * Looks for a payment that an earlier ledger made. A batch needs no search, because its contract delivers only once.
 */
async function madeBefore({ chain, known, agent: { view }, input, context }: Try): Promise<Result | undefined> {
  const { lane, intent, orderedAt } = input
  if (orderedAt === undefined) return undefined
  const search = { chain, known, signal: context.cancellationSignal, era: view?.era ?? 0 }
  return findForgotten(search, { lane, intent, orderedAt }, view?.forgotten ?? [])
}

async function madeInstead(one: Try, pending: PendingTransaction): Promise<Result | undefined> {
  const { agent, input } = one
  if (!pending.unsigned || input.held?.nonce === pending.nonce) return undefined
  const made = await madeBefore(one)
  if (!made) return undefined
  await agent.release(pending)
  if (made.kind !== 'no-slot') await agent.cancel(input.intentId)
  return made
}

function lastForgotten({ view }: LaneAgent): number | undefined {
  return view?.forgotten?.at(-1)?.at
}

function refused({ why, detail, later }: Refused): Result {
  if (later !== undefined) return { kind: 'superseded', intentId: later }
  if (why === 'withdrawn') return { kind: 'withdrawn' }
  if (why === 'conflict' || why === 'none') throw new RelayerError('LANE_CONFLICT', { detail })
  return { kind: 'no-slot', code: refusalCodes[why], reason: detail }
}
