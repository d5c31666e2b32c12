import type { Endpoint, SharedCalls } from '../../bridges/port.ts'
import type { Chain } from '../../chains/port.ts'
import { type ErrorCode, toRelayerError } from '../../domain/catalogue/errors.ts'
import { workflowOf } from '../../domain/lane/lane.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import type { Flushed } from '../../lanes/batch/batcher.ts'
import type { Batch, BatchTracker } from '../../lanes/batch/batch-tracker.ts'
import type { NonceRequest, Refused } from '../../lanes/ledger/nonce-requests.ts'
import { ageOf, type Moment, present } from '../../runtime/moment.ts'
import { isDelivered } from '../checks/effect.ts'
import { priceCall, type Priced } from '../checks/price-call.ts'
import type { StepDeps } from '../deps.ts'
import { type Admitted, type NoSlot, restrictionOf } from '../route.ts'

export interface BatchCandidate extends Admitted, Pick<NonceRequest, 'intent' | 'first' | 'priority' | 'source' | 'deadline'> {
  readonly intentId: string
  /** True if an earlier try may have sent a call that the ledger no longer knows. */
  readonly maybeSent?: boolean
  /** ms for which a read that shows no effect is trusted. */
  readonly trustedMs: number
}

export type BatchAnswer =
  | { readonly kind: 'alone' }
  | { readonly kind: 'seen' }
  | { readonly kind: 'member'; readonly batch: Batch }
  | Refused
  | NoSlot

export interface BatchDeps extends Pick<StepDeps, 'bridges' | 'settings' | 'fees' | 'losses'> {
  readonly agent: LaneAgent
  readonly batches: BatchTracker
  readonly chain: Chain
}

interface BatchBuilderDeps extends BatchDeps {
  readonly endpoint: Endpoint
  readonly shared: Pick<SharedCalls, 'fitting' | 'intent'>
}

/** Maximum wait for a batch's nonce, ms: less than the minute after which the workflow `batch` looks for the nonce. */
const nonceMs = 20_000
/** Refusals that concern the whole route, so that halving the batch would not help. */
const ofRoute: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['BRIDGE_PAUSED', 'BRIDGE_ROLE_MISSING', 'FEE_CEILING'])

type Answers = Map<BatchCandidate, BatchAnswer>
type NoSlotReason = Pick<NoSlot, 'code' | 'reason'>

export function createBatchBuilder(deps: BatchBuilderDeps) {
  return async function flush(candidates: readonly BatchCandidate[], isHalf: boolean): Promise<Flushed<BatchCandidate, BatchAnswer>> {
    const answers: Answers = new Map()
    const lastRead = { at: present(), block: latestBlock(deps) }
    const ready = fitting(deps, await check(deps, candidates, answers), answers)
    const [first] = ready
    if (!first) return { together: true, answers }
    if (ready.length === 1) {
      answers.set(first, isHalf ? await simulateAlone(deps, first) : alone)
      return { together: true, answers }
    }
    const intent = await deps.shared.intent(ready.map(({ transfer }) => transfer))
    const priced = await priceCall(deps, { lane: deps.agent.lane, owner: 'batch', intent, deliveries: ready.length })
    const refusal = priced.kind === 'priced' ? await signerRefusal(deps, { intent, first: priced.first }) : pricedRefusal(deps, priced)
    if (priced.kind === 'priced' && !refusal) await send(deps, ready, { intent, first: priced.first }, lastRead, answers)
    if (!refusal) return { together: true, answers }
    const together = ofRoute.has(refusal.code)
    if (together) for (const candidate of ready) answers.set(candidate, noSlot(refusal))
    else deps.agent.batchCounts.split += 1
    return { together, answers }
  }
}

function pricedRefusal({ endpoint }: BatchBuilderDeps, priced: Exclude<Priced, { kind: 'priced' }>, transfer?: Transfer): NoSlotReason {
  if (priced.kind !== 'reverts') return priced
  const meaning = endpoint.explainRevert(priced.revert, transfer)
  return meaning.kind === 'delivered' ? { code: 'DELIVERY_REVERTED', reason: 'delivered already' } : meaning
}

function permanentOnly(error: unknown): NoSlotReason {
  const { code, message: reason, retriable } = toRelayerError(error)
  if (retriable) throw error
  return { code, reason }
}

/** The reason why the key would not sign the call. Undefined if it would. Throws retriable errors. */
function signerRefusal({ agent }: BatchBuilderDeps, call: Pick<NonceRequest, 'intent' | 'first'>): Promise<NoSlotReason | undefined> {
  return agent.checkSigning(call).then(() => undefined, permanentOnly)
}

async function send(
  deps: BatchBuilderDeps,
  ready: readonly BatchCandidate[],
  priced: Pick<NonceRequest, 'intent' | 'first'>,
  lastRead: { readonly at: Moment; readonly block: string | undefined },
  answers: Answers,
): Promise<void> {
  const call = {
    ...priced,
    members: ready.map(({ intentId }) => intentId),
    priority: Math.min(...ready.map(({ priority }) => priority)),
    source: ready[0]?.source ?? '',
  }
  const sent = await deps.batches.send(call, {
    timeoutMs: nonceMs,
    async unfit() {
      // If an earlier try may have sent a call, a newer block may contain it.
      const passed = ready.some(({ maybeSent }) => maybeSent) && latestBlock(deps) !== lastRead.block
      const late = passed || ready.some(({ trustedMs }) => ageOf(lastRead.at) > trustedMs)
      const fit = new Set(await check(deps, ready, answers, late))
      return ready.filter((candidate) => !fit.has(candidate)).map(({ intentId }) => intentId)
    },
  })
  for (const candidate of ready) {
    if (sent.kind === 'underway') answers.set(candidate, { kind: 'member', batch: sent.batch })
    else if (sent.kind === 'refused') answers.set(candidate, sent)
    else if (sent.members.includes(candidate.intentId) && !answers.has(candidate)) answers.set(candidate, withdrawn)
  }
}

function latestBlock({ chain }: BatchBuilderDeps): string | undefined {
  return chain.heads.current?.latest.hash
}

async function check(deps: BatchBuilderDeps, candidates: readonly BatchCandidate[], answers: Answers, readsEffect = true) {
  const checkOne = async (candidate: BatchCandidate) => {
    const effect = readsEffect ? effectAnswer(deps, candidate.transfer) : undefined
    const [delivered, restricted] = await Promise.all([effect, restrictionOf(deps, deps.endpoint, candidate, deps.agent.lane)])
    return { candidate, answer: delivered ?? restricted ?? (deps.losses?.goesAlone(candidate.parties) ? alone : undefined) }
  }
  const found = await Promise.all(candidates.map(checkOne))
  for (const { candidate, answer } of found) if (answer) answers.set(candidate, answer)
  return found.flatMap(({ candidate, answer }) => (answer ? [] : [candidate]))
}

/**
 * Undefined if the candidate stays in the batch. After a permanent error, it leaves the batch, and its own admission
 * judges the error.
 */
async function effectAnswer({ chain, endpoint }: BatchBuilderDeps, transfer: Transfer): Promise<BatchAnswer | undefined> {
  const shown = await isDelivered(chain, endpoint, transfer).catch(permanentOnly)
  if (shown === false) return undefined
  endpoint.release?.(transfer)
  return shown === true ? { kind: 'seen' } : noSlot(shown)
}

function fitting({ shared }: BatchBuilderDeps, candidates: readonly BatchCandidate[], answers: Answers): BatchCandidate[] {
  const fit = new Set(shared.fitting(candidates.map(({ transfer }) => transfer)))
  for (const candidate of candidates) {
    if (!fit.has(candidate.transfer))
      answers.set(candidate, noSlot({ code: 'BRIDGE_BUDGET', reason: 'it does not fit into the rest of the daily budget' }))
  }
  return candidates.filter(({ transfer }) => fit.has(transfer))
}

async function simulateAlone(deps: BatchBuilderDeps, { intentId, intent, transfer }: BatchCandidate): Promise<BatchAnswer> {
  const priced = await priceCall(deps, { lane: deps.agent.lane, owner: workflowOf(intentId), intent })
  return priced.kind === 'priced' ? alone : noSlot(pricedRefusal(deps, priced, transfer))
}

const alone: BatchAnswer = { kind: 'alone' }
const withdrawn: BatchAnswer = { kind: 'refused', why: 'withdrawn', detail: 'the intent was withdrawn while it waited' }

function noSlot({ code, reason }: NoSlotReason): NoSlot {
  return { kind: 'no-slot', code, reason }
}
