import type { Endpoint, SharedCalls } from '../../bridges/port.ts'
import type { Chain, Revert } from '../../chains/port.ts'
import { type ErrorCode, toRelayerError } from '../../domain/errors.ts'
import type { FeePolicyResolver } from '../../domain/fees/policy.ts'
import type { Intent } from '../../domain/intent.ts'
import type { Attempt } from '../../domain/lane/lane.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Acquired, LaneAgent } from '../../lanes/agent.ts'
import type { BatchBuilder } from '../../lanes/batch/batcher.ts'
import type { Batch, BatchTracker } from '../../lanes/batch/batch-tracker.ts'
import type { BroadcastResult } from '../../temporal/contracts/transfer-steps.ts'
import type { StepDeps } from '../deps.ts'
import { withReservation } from '../../bridges/gates/reservation.ts'
import { isDelivered } from '../transfer/delivery-checks.ts'
import { restrictionOf } from '../transfer/restrictions.ts'
import { priceCall } from '../price-call.ts'

/** A transfer that would share a call. */
export interface BatchCandidate {
  /** Workflow id of the transfer. */
  readonly owner: string
  readonly intentId: string
  readonly transfer: Transfer
  readonly priority: number
  readonly source: string
  readonly deadline?: number
  /** A call may have been sent for it already, whatever the ledger knows of that. */
  readonly maybeSent?: boolean
}

type NoSlot = Extract<BroadcastResult, { kind: 'no-slot' }>

/** What boarding came to. `seen`: its effect is there, by someone. */
export type Boarded =
  | { readonly kind: 'alone' }
  | { readonly kind: 'seen' }
  | { readonly kind: 'ride'; readonly batch: Batch }
  | Extract<Acquired, { kind: 'refused' }>
  | NoSlot

export interface BatchBuilderDeps {
  readonly endpoint: Endpoint
  readonly shared: SharedCalls
  readonly agent: LaneAgent
  readonly batches: BatchTracker
  readonly chain: Chain
  readonly settings: StepDeps['settings']
  readonly fees: FeePolicyResolver
  readonly bridges: StepDeps['bridges']
}

/** Longest wait for the nonce of a batch, ms: its workflow looks for it a minute after it was recorded. */
const nonceMs = 20_000
/** A reading of what is delivered is believed so long, ms. */
const believedMs = 8_000
/** A refusal that only time mends: look again after this, ms. */
const retryMs = 5_000
/** Reasons of the whole route: every half of the batch would meet the same. */
const ofRoute: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['BRIDGE_PAUSED', 'BRIDGE_ROLE_MISSING', 'FEE_CEILING'])

type Answers = Map<BatchCandidate, Boarded>

/** `answer`: it does not go with the others. */
interface Look {
  readonly rider: BatchCandidate
  readonly answer?: Boarded
}

/** How those leave who were chosen to leave together: looked at once more, simulated, recorded, signed. */
export function createBatchBuilder(deps: BatchBuilderDeps) {
  return async function depart(riders: readonly BatchCandidate[], suspects: boolean): Promise<BatchBuilder<BatchCandidate, Boarded>> {
    const answers: Answers = new Map()
    const looked = { at: Date.now(), block: latestOf(deps) }
    const ready = fitting(deps, await stillWanted(deps, riders, answers), answers)
    const [first] = ready
    if (!first) return { together: true, answers }
    if (ready.length === 1) {
      answers.set(first, suspects ? await alone(deps, first) : { kind: 'alone' })
      return { together: true, answers }
    }
    const intent = await deps.shared.intent(ready.map(({ transfer }) => transfer))
    const priced = await priceCall(deps, { lane: deps.agent.lane, owner: 'batch', intent })
    if (priced.kind === 'priced') {
      await leave(deps, { ready, intent, first: priced.first, looked }, answers)
      return { together: true, answers }
    }
    const { code, reason } = priced.kind === 'reverts' ? meaningOf(deps, priced.revert) : priced
    const together = ofRoute.has(code)
    if (together) for (const rider of ready) answers.set(rider, noSlot(code, reason))
    else deps.agent.batchCounts.split += 1
    return { together, answers }
  }
}

/** Recorded, given its nonce, looked at for the last time, signed. */
async function leave(
  deps: BatchBuilderDeps,
  {
    ready,
    intent,
    first,
    looked,
  }: { ready: readonly BatchCandidate[]; intent: Intent; first: Attempt; looked: { at: number; block: string | undefined } },
  answers: Answers,
): Promise<void> {
  const call = {
    intent,
    first,
    members: ready.map(({ intentId }) => intentId),
    priority: Math.min(...ready.map(({ priority }) => priority)),
    source: ready[0]?.source ?? '',
  }
  const launched = await deps.batches.launch(call, {
    timeoutMs: nonceMs,
    async unfit() {
      // As with one that goes alone: what an earlier try has sent may be in the block from which on a new ledger gives nonces.
      const passed = ready.some(({ maybeSent }) => maybeSent) && latestOf(deps) !== looked.block
      const late = passed || Date.now() - looked.at > believedMs
      const wanted = new Set(await (late ? stillWanted : notHeldBack)(deps, ready, answers))
      return ready.filter((rider) => !wanted.has(rider)).map(({ intentId }) => intentId)
    },
  })
  for (const rider of ready) {
    if (launched.kind === 'underway') answers.set(rider, { kind: 'ride', batch: launched.batch })
    else if (launched.kind === 'refused') answers.set(rider, launched)
    else if (launched.members.includes(rider.intentId) && !answers.has(rider)) answers.set(rider, withdrawn)
  }
}

function latestOf({ chain }: BatchBuilderDeps): string | undefined {
  return chain.heads.current?.latest.hash
}

/** Those who are neither delivered, nor held back; the others have their answers. */
async function stillWanted(deps: BatchBuilderDeps, riders: readonly BatchCandidate[], answers: Answers): Promise<BatchCandidate[]> {
  const [looks, free] = await Promise.all([Promise.all(riders.map((rider) => lookAt(deps, rider))), notHeldBack(deps, riders, answers)])
  const answered = new Set<BatchCandidate>()
  for (const { rider, answer } of looks) {
    if (!answer) continue
    answers.set(rider, answer)
    answered.add(rider)
  }
  return free.filter((rider) => !answered.has(rider))
}

/**
 * Is its effect there? What says for good that something is wrong with this one (its contracts contradict each other) is for its own admission to judge:
 * the others have no part in it.
 */
async function lookAt({ chain, endpoint }: BatchBuilderDeps, rider: BatchCandidate): Promise<Look> {
  const look = async (): Promise<Look> => {
    try {
      return (await isDelivered(chain, endpoint, rider.transfer)) ? { rider, answer: { kind: 'seen' } } : { rider }
    } catch (error) {
      const { code, message, retriable } = toRelayerError(error)
      if (retriable) throw error
      return { rider, answer: noSlot(code, message) }
    }
  }
  return withReservation(endpoint, rider.transfer, look, ({ answer }) => answer === undefined)
}

/** Those whom neither a halt nor a closed gate holds back. */
async function notHeldBack(deps: BatchBuilderDeps, riders: readonly BatchCandidate[], answers: Answers): Promise<BatchCandidate[]> {
  const looks = await Promise.all(
    riders.map(async (rider) => ({ rider, held: await restrictionOf(deps, rider.transfer, deps.agent.lane) })),
  )
  for (const { rider, held } of looks) if (held) answers.set(rider, held)
  return looks.filter(({ held }) => !held).map(({ rider }) => rider)
}

/** Those who fit together into what the bridge lets in. */
function fitting({ shared }: BatchBuilderDeps, riders: readonly BatchCandidate[], answers: Answers): BatchCandidate[] {
  const fit = new Set(shared.fitting(riders.map(({ transfer }) => transfer)))
  for (const rider of riders) {
    if (!fit.has(rider.transfer)) answers.set(rider, noSlot('BRIDGE_BUDGET', 'it does not fit into what is left of the day'))
  }
  return riders.filter(({ transfer }) => fit.has(transfer))
}

/** The one that may have been in the others' way. Its own simulation says why; with that it goes back to its own way. */
async function alone(deps: BatchBuilderDeps, rider: BatchCandidate): Promise<Boarded> {
  const intent = await deps.endpoint.intent(rider.transfer)
  const priced = await priceCall(deps, { lane: deps.agent.lane, owner: rider.owner, intent })
  if (priced.kind === 'priced') return { kind: 'alone' }
  const { code, reason } = priced.kind === 'reverts' ? meaningOf(deps, priced.revert, rider.transfer) : priced
  return noSlot(code, reason)
}

function meaningOf({ endpoint }: BatchBuilderDeps, revert: Revert, transfer?: Transfer): { code: ErrorCode; reason: string } {
  const meaning = endpoint.explainRevert(revert, transfer)
  return meaning.kind === 'delivered' ? { code: 'DELIVERY_REVERTED', reason: 'delivered already' } : meaning
}

const withdrawn: Boarded = { kind: 'refused', why: 'withdrawn', detail: 'the intent was withdrawn while it waited' }

function noSlot(code: ErrorCode, reason: string): NoSlot {
  return { kind: 'no-slot', code, reason, retryInMs: retryMs }
}
