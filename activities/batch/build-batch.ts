import type { Endpoint, SharedCalls } from '../../bridges/port.ts'
import type { Chain, Revert } from '../../chains/port.ts'
import { withReservation } from '../../bridges/gates/with-reservation.ts'
import { type ErrorCode, toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Intent } from '../../domain/intent.ts'
import { workflowOf } from '../../domain/lane/intent-id.ts'
import type { Attempt } from '../../domain/lane/lane.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import type { Flushed } from '../../lanes/batch/batcher.ts'
import type { Batch, BatchTracker } from '../../lanes/batch/batch-tracker.ts'
import type { NonceRequest, Refused } from '../../lanes/ledger/nonce-requests.ts'
import type { BroadcastResult } from '../../temporal/contracts/transfer-steps.ts'
import type { StepDeps } from '../deps.ts'
import { isDelivered } from '../transfer/delivery-checks.ts'
import { restrictionOf } from '../transfer/restrictions.ts'
import { goesAlone } from '../transfer/set-aside.ts'
import { priceCall, type Priced } from '../operator-transaction/price-call.ts'

/** A transfer that may share a call. */
export interface BatchCandidate extends Pick<NonceRequest, 'priority' | 'source' | 'deadline'> {
  readonly intentId: string
  readonly transfer: Transfer
  /** An earlier try may have sent a call for it, whatever the ledger knows of that. */
  readonly maybeSent?: boolean
  /** A look at whether its effect is there is believed for so long, ms. */
  readonly believedMs: number
  /** When an operator last ordered a retry, ms since the epoch: losses before that do not set it aside. */
  readonly retriedAt?: number | undefined
}

type NoSlot = Extract<BroadcastResult, { kind: 'no-slot' }>

/** What became of a candidate. `member`: of this batch. `seen`: its effect is there. */
export type BatchAnswer =
  | { readonly kind: 'alone' }
  | { readonly kind: 'seen' }
  | { readonly kind: 'member'; readonly batch: Batch }
  | Refused
  | NoSlot

export interface BatchBuilderDeps extends Pick<StepDeps, 'bridges' | 'settings' | 'fees' | 'losses'> {
  readonly lane: LaneId
  readonly endpoint: Endpoint
  readonly shared: Pick<SharedCalls, 'fitting' | 'intent'>
  readonly batches: Pick<BatchTracker, 'send'>
  readonly counts: Pick<LaneAgent['batchCounts'], 'split'>
  readonly signer: Pick<LaneAgent, 'justify'>
  readonly chain: Chain
}

/** Longest wait for the nonce of a batch, ms: its workflow looks for it a minute after it was recorded. */
const nonceMs = 20_000
/** Reasons of the whole route: every half of the batch would meet the same. */
const ofRoute: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['BRIDGE_PAUSED', 'BRIDGE_ROLE_MISSING', 'FEE_CEILING'])

type Answers = Map<BatchCandidate, BatchAnswer>

/** One call of the candidates of a flush (see `BatcherOptions.flush`): looked at once more, simulated, recorded, signed and sent. */
export function createBatchBuilder(deps: BatchBuilderDeps) {
  return async function flush(candidates: readonly BatchCandidate[], isHalf: boolean): Promise<Flushed<BatchCandidate, BatchAnswer>> {
    const answers: Answers = new Map()
    const lastLook = { at: Date.now(), block: latestBlock(deps) }
    const ready = fitting(deps, await pass(deps, candidates, answers), answers)
    const [first] = ready
    if (!first) return { together: true, answers }
    if (ready.length === 1) {
      answers.set(first, isHalf ? await simulateAlone(deps, first) : { kind: 'alone' })
      return { together: true, answers }
    }
    const intent = await deps.shared.intent(ready.map(({ transfer }) => transfer))
    const priced = await priceCall(deps, { lane: deps.lane, owner: 'batch', intent, deliveries: ready.length })
    const refusal = priced.kind === 'priced' ? await refusalBySigner(deps, { intent, first: priced.first }) : heldBack(deps, priced)
    if (priced.kind === 'priced' && !refusal) await send(deps, { ready, intent, first: priced.first, lastLook }, answers)
    if (!refusal) return { together: true, answers }
    const together = ofRoute.has(refusal.code)
    if (together) for (const candidate of ready) answers.set(candidate, noSlot(refusal.code, refusal.reason))
    else deps.counts.split += 1
    return { together, answers }
  }
}

function heldBack(deps: BatchBuilderDeps, priced: Exclude<Priced, { kind: 'priced' }>): Held {
  return priced.kind === 'reverts' ? meaningOf(deps, priced.revert) : priced
}

/** The signer does not sign it: half of it may be within its limits, or have no part in what is wrong. Throws what the reads of a proof throw. */
async function refusalBySigner({ signer }: BatchBuilderDeps, call: Pick<NonceRequest, 'intent' | 'first'>): Promise<Held | undefined> {
  try {
    await signer.justify(call)
    return undefined
  } catch (error) {
    const { code, message, retriable } = toRelayerError(error)
    if (retriable) throw error
    return { code, reason: message }
  }
}

/** Why a call is not sent now. */
interface Held {
  readonly code: ErrorCode
  readonly reason: string
}

interface ReadyBatch {
  readonly ready: readonly BatchCandidate[]
  readonly intent: Intent
  readonly first: Attempt
  /** When, and at which block, it was last seen that nothing is delivered. */
  readonly lastLook: { readonly at: number; readonly block: string | undefined }
}

/** Recorded, given its nonce, looked at for the last time, signed. */
async function send(deps: BatchBuilderDeps, { ready, intent, first, lastLook }: ReadyBatch, answers: Answers): Promise<void> {
  const call = {
    intent,
    first,
    members: ready.map(({ intentId }) => intentId),
    priority: Math.min(...ready.map(({ priority }) => priority)),
    source: ready[0]?.source ?? '',
  }
  const sent = await deps.batches.send(call, {
    timeoutMs: nonceMs,
    async unfit() {
      // As for a transfer alone: the call of an earlier try may be in the very block from which on a new ledger grants nonces.
      const passed = ready.some(({ maybeSent }) => maybeSent) && latestBlock(deps) !== lastLook.block
      const late = passed || ready.some(({ believedMs }) => Date.now() - lastLook.at > believedMs)
      const fit = new Set(await pass(deps, ready, answers, late))
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

/** The candidates that nothing holds back (see `restrictionOf`) and, unless that was seen lately, that are not delivered. The others get answers. */
async function pass(
  deps: BatchBuilderDeps,
  candidates: readonly BatchCandidate[],
  answers: Answers,
  looksAtEffect = true,
): Promise<BatchCandidate[]> {
  const look = async (candidate: BatchCandidate) => {
    const { transfer, retriedAt } = candidate
    const effect = looksAtEffect ? lookAt(deps, transfer) : undefined
    const [delivered, held] = await Promise.all([effect, restrictionOf(deps, transfer, deps.lane, retriedAt)])
    return { candidate, answer: delivered ?? held ?? (goesAlone(deps, transfer) ? alone : undefined) }
  }
  const found = await Promise.all(candidates.map(look))
  for (const { candidate, answer } of found) if (answer) answers.set(candidate, answer)
  return found.flatMap(({ candidate, answer }) => (answer ? [] : [candidate]))
}

/** `seen` if the effect is there; undefined: it goes with the others. A permanent error is for its own admission to judge, and concerns no other. */
function lookAt({ chain, endpoint }: BatchBuilderDeps, transfer: Transfer): Promise<BatchAnswer | undefined> {
  const look = async (): Promise<BatchAnswer | undefined> => {
    try {
      return (await isDelivered(chain, endpoint, transfer)) ? { kind: 'seen' } : undefined
    } catch (error) {
      const { code, message, retriable } = toRelayerError(error)
      if (retriable) throw error
      return noSlot(code, message)
    }
  }
  return withReservation(endpoint, transfer, look, (answer) => answer === undefined)
}

/** The candidates that fit together into the bridge's limits; the others get their answers. */
function fitting({ shared }: BatchBuilderDeps, candidates: readonly BatchCandidate[], answers: Answers): BatchCandidate[] {
  const fit = new Set(shared.fitting(candidates.map(({ transfer }) => transfer)))
  for (const candidate of candidates) {
    if (!fit.has(candidate.transfer)) answers.set(candidate, noSlot('BRIDGE_BUDGET', 'it does not fit into what is left of the day'))
  }
  return candidates.filter(({ transfer }) => fit.has(transfer))
}

/** The candidate that may have made the others' call revert. Its own simulation says why; then it goes on alone. */
async function simulateAlone(deps: BatchBuilderDeps, { intentId, transfer }: BatchCandidate): Promise<BatchAnswer> {
  const intent = await deps.endpoint.intent(transfer)
  const priced = await priceCall(deps, { lane: deps.lane, owner: workflowOf(intentId), intent })
  if (priced.kind === 'priced') return { kind: 'alone' }
  const { code, reason } = priced.kind === 'reverts' ? meaningOf(deps, priced.revert, transfer) : priced
  return noSlot(code, reason)
}

function meaningOf({ endpoint }: BatchBuilderDeps, revert: Revert, transfer?: Transfer): { code: ErrorCode; reason: string } {
  const meaning = endpoint.explainRevert(revert, transfer)
  return meaning.kind === 'delivered' ? { code: 'DELIVERY_REVERTED', reason: 'delivered already' } : meaning
}

const alone: BatchAnswer = { kind: 'alone' }
const withdrawn: BatchAnswer = { kind: 'refused', why: 'withdrawn', detail: 'the intent was withdrawn while it waited' }

function noSlot(code: ErrorCode, reason: string): NoSlot {
  return { kind: 'no-slot', code, reason }
}
