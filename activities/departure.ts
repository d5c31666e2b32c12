import type { Endpoint, SharedCalls } from '../bridges/port.ts'
import type { Chain } from '../chains/port.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { FeeDesk } from '../domain/fee-policy.ts'
import type { Transfer } from '../domain/transfer.ts'
import type { Acquired, LaneAgent } from '../lanes/agent.ts'
import type { Departure } from '../lanes/batcher.ts'
import type { Batch, Batches } from '../lanes/batches.ts'
import type { BroadcastResult } from '../temporal/steps.ts'
import type { StepDeps } from './deps.ts'
import { heldBack } from './gate.ts'
import { priceCall } from './price-call.ts'

/** A transfer that would share a call. */
export interface Rider {
  /** Workflow id of the transfer. */
  readonly owner: string
  readonly intentId: string
  readonly transfer: Transfer
  readonly priority: number
  readonly source: string
  readonly deadline?: number
}

type NoSlot = Extract<BroadcastResult, { kind: 'no-slot' }>

/** What boarding came to. `seen`: its effect is there, by someone. */
export type Boarded =
  | { readonly kind: 'alone' }
  | { readonly kind: 'seen' }
  | { readonly kind: 'ride'; readonly batch: Batch }
  | Extract<Acquired, { kind: 'refused' }>
  | NoSlot

export interface DepartureDeps {
  readonly endpoint: Endpoint
  readonly shared: SharedCalls
  readonly agent: LaneAgent
  readonly batches: Batches
  readonly chain: Chain
  readonly settings: StepDeps['settings']
  readonly fees: FeeDesk
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

type Answers = Map<Rider, Boarded>

/** How those leave who were chosen to leave together: looked at once more, simulated, recorded, signed. */
export function createDeparture(deps: DepartureDeps) {
  const { endpoint, shared, agent, batches } = deps

  return async function depart(riders: readonly Rider[], suspects: boolean): Promise<Departure<Rider, Boarded>> {
    const answers: Answers = new Map()
    let lookedAt = Date.now()
    const ready = fitting(await stillWanted(riders, answers), answers)
    const [first] = ready
    if (!first) return { together: true, answers }
    if (ready.length === 1) {
      answers.set(first, suspects ? await alone(first) : { kind: 'alone' })
      return { together: true, answers }
    }
    const intent = await shared.intent(ready.map(({ transfer }) => transfer))
    const priced = await priceCall(deps, { lane: agent.lane, owner: 'batch', intent })
    if (priced.kind !== 'priced') {
      const { code, reason } = priced.kind === 'reverts' ? meaningOf(priced.revert) : priced
      if (ofRoute.has(code)) for (const rider of ready) answers.set(rider, noSlot(code, reason))
      return { together: ofRoute.has(code), answers }
    }
    const call = {
      intent,
      first: priced.first,
      members: ready.map(({ intentId }) => intentId),
      priority: Math.min(...ready.map(({ priority }) => priority)),
      source: first.source,
    }
    const launched = await batches.launch(call, {
      timeoutMs: nonceMs,
      async unfit() {
        const late = Date.now() - lookedAt > believedMs
        lookedAt = Date.now()
        const wanted = new Set(late ? await stillWanted(ready, answers) : await notHeldBack(ready, answers))
        return ready.filter((rider) => !wanted.has(rider)).map(({ intentId }) => intentId)
      },
    })
    for (const rider of ready) {
      if (launched.kind === 'underway') answers.set(rider, { kind: 'ride', batch: launched.batch })
      else if (launched.kind === 'refused') answers.set(rider, launched)
      else if (launched.members.includes(rider.intentId) && !answers.has(rider)) answers.set(rider, withdrawn)
    }
    return { together: true, answers }
  }

  /** Those who are neither delivered, nor held back; the others have their answers. */
  async function stillWanted(riders: readonly Rider[], answers: Answers): Promise<Rider[]> {
    const [delivered, free] = await Promise.all([
      Promise.all(riders.map(({ transfer }) => endpoint.delivered(transfer, 'latest'))),
      notHeldBack(riders, answers),
    ])
    const there = new Set(riders.filter((_, index) => delivered[index]))
    for (const rider of there) {
      endpoint.leave?.(rider.transfer)
      answers.set(rider, { kind: 'seen' })
    }
    return free.filter((rider) => !there.has(rider))
  }

  /** Those whom neither a halt nor a closed gate holds back. */
  async function notHeldBack(riders: readonly Rider[], answers: Answers): Promise<Rider[]> {
    const looks = await Promise.all(riders.map(async (rider) => ({ rider, held: await heldBack(deps, rider.transfer, agent.lane) })))
    for (const { rider, held } of looks) if (held) answers.set(rider, held)
    return looks.filter(({ held }) => !held).map(({ rider }) => rider)
  }

  /** Those who fit together into what the bridge lets in. */
  function fitting(riders: readonly Rider[], answers: Answers): Rider[] {
    const fit = new Set(shared.fitting(riders.map(({ transfer }) => transfer)))
    for (const rider of riders) {
      if (!fit.has(rider.transfer)) answers.set(rider, noSlot('BRIDGE_BUDGET', 'it does not fit into what is left of the day'))
    }
    return riders.filter(({ transfer }) => fit.has(transfer))
  }

  /** The one that may have been in the others' way. Its own simulation says why; with that it goes back to its own way. */
  async function alone(rider: Rider): Promise<Boarded> {
    const intent = await endpoint.intent(rider.transfer)
    const priced = await priceCall(deps, { lane: agent.lane, owner: rider.owner, intent })
    if (priced.kind === 'priced') return { kind: 'alone' }
    const { code, reason } = priced.kind === 'reverts' ? meaningOf(priced.revert, rider.transfer) : priced
    return noSlot(code, reason)
  }

  function meaningOf(revert: Parameters<Endpoint['explainRevert']>[0], transfer?: Transfer): { code: ErrorCode; reason: string } {
    const meaning = endpoint.explainRevert(revert, transfer)
    return meaning.kind === 'delivered' ? { code: 'DELIVERY_REVERTED', reason: 'delivered already' } : meaning
  }
}

const withdrawn: Boarded = { kind: 'refused', why: 'withdrawn', detail: 'the intent was withdrawn while it waited' }

function noSlot(code: ErrorCode, reason: string): NoSlot {
  return { kind: 'no-slot', code, reason, retryInMs: retryMs }
}
