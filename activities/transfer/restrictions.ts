import { type Reserve, withReservation } from '../../bridges/gates/with-reservation.ts'
import { laneAddress, type LaneId } from '../../domain/lane/lane-id.ts'
import { denyRuleOf, haltOf } from '../../domain/settings/settings.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Admission, BroadcastResult, Passed, Stopped } from '../../temporal/contracts/transfer-steps.ts'
import { endpointOf, type StepDeps } from '../deps.ts'
import { setAside } from './set-aside.ts'

/** First wait while halted, ms; the workflow doubles it up to a minute. */
const haltedMs = 5_000

type Deps = Pick<StepDeps, 'settings' | 'bridges' | 'losses'>
type Waiting = Extract<Stopped, { kind: 'waiting' }>
type Refusal = Extract<Stopped, { kind: 'rejected' | 'declined' }>
type NoSlot = Extract<BroadcastResult, { kind: 'no-slot' }>

/** Runs a step of admission, unless the transfer is halted. What the bridge's limits reserved for it stays reserved only while the transfer goes on. */
export function admissionStep<T extends Admission | Passed>(
  deps: Deps,
  transfer: Transfer,
  step: (reserve: Reserve) => Promise<T>,
): Promise<T | Waiting> {
  const stepUnlessHalted = async (reserve: Reserve) => haltedBy(deps, transfer) ?? step(reserve)
  const goesOn = ({ kind }: T | Waiting) => kind === 'passed' || kind === 'ready' || kind === 'unsettled'
  return withReservation(endpointOf(deps, transfer), transfer, stepUnlessHalted, goesOn)
}

/**
 * A halt, a denial, losses of its token or recipient, or its bridge's gate, which may have come since it was admitted. Undefined: it may use a nonce of this
 * lane. It ends nothing here: what is denied goes back to the admission, which declines it. Throws what reads throw.
 */
export async function restrictionOf(deps: Deps, transfer: Transfer, lane: LaneId, retriedAt?: number): Promise<NoSlot | undefined> {
  const restriction = async (reserve: Reserve): Promise<NoSlot | undefined> => {
    const known = haltedBy(deps, transfer) ?? deniedBy(deps, transfer) ?? setAside(deps, transfer, retriedAt)
    const gate = known ?? (await reserve(laneAddress(lane)))
    return gate.kind === 'open' ? undefined : { kind: 'no-slot', code: gate.code, reason: gate.reason }
  }
  return withReservation(endpointOf(deps, transfer), transfer, restriction, (found) => found === undefined)
}

function haltedBy(deps: Deps, transfer: Transfer): Waiting | undefined {
  const halt = haltOf(deps.settings(), transfer)
  return halt && { kind: 'waiting', code: 'HALTED', reason: `halted by ${halt.by}: ${halt.reason}`, retryInMs: haltedMs }
}

/** The denial that applies to this transfer now. It is policy, so that it can be decided again. */
export function deniedBy(deps: Deps, transfer: Transfer): Refusal | undefined {
  const settings = deps.settings()
  if (settings.denied.length === 0) return undefined
  const denyRule = denyRuleOf(settings, transfer.targetChain, endpointOf(deps, transfer).parties(transfer))
  if (!denyRule) return undefined
  const { kind, value, by, reason } = denyRule
  return {
    kind: 'declined',
    code: kind === 'token' ? 'TOKEN_DENIED' : 'RECIPIENT_DENIED',
    reason: `${kind} ${value} was denied by ${by}: ${reason}`,
  }
}
