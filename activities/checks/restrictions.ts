import { type Reserve, withReservation } from '../../bridges/gates/with-reservation.ts'
import { laneAddress, type LaneId } from '../../domain/lane/lane-id.ts'
import { denyRuleOf, haltOf } from '../../domain/settings/settings.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Admission, BroadcastResult, Passed, Stopped } from '../../temporal/contracts/transfer-steps.ts'
import { endpointOf, type StepDeps } from '../deps.ts'
import { quarantineOf } from './quarantine.ts'

/** First wait while halted, ms. The workflow doubles it up to a minute. */
const haltedMs = 5_000

type Deps = Pick<StepDeps, 'settings' | 'bridges' | 'losses'>
type Waiting = Extract<Stopped, { kind: 'waiting' }>
type Refusal = Extract<Stopped, { kind: 'rejected' | 'declined' }>
type NoSlot = Extract<BroadcastResult, { kind: 'no-slot' }>

/** Runs a step of admission unless the transfer is halted. Keeps reservations only while the transfer goes on. */
export function admissionStep<T extends Admission | Passed>(
  deps: Deps,
  transfer: Transfer,
  step: (reserve: Reserve) => Promise<T>,
): Promise<T | Waiting> {
  const stepUnlessHalted = async (reserve: Reserve) => haltedBy(deps, transfer) ?? step(reserve)
  const goesOn = ({ kind }: T | Waiting) => kind === 'passed' || kind === 'ready' || kind === 'unsettled'
  return withReservation(endpointOf(deps, transfer), transfer, stepUnlessHalted, goesOn)
}

/** A halt, denial, quarantine or closed gate that came after the admission. Undefined: the transfer may use a nonce. */
export async function restrictionOf(deps: Deps, transfer: Transfer, lane: LaneId, retriedAt?: number): Promise<NoSlot | undefined> {
  const restriction = async (reserve: Reserve): Promise<NoSlot | undefined> => {
    const known = haltedBy(deps, transfer) ?? deniedBy(deps, transfer) ?? quarantineOf(deps, transfer, retriedAt)
    const gate = known ?? (await reserve(laneAddress(lane)))
    return gate.kind === 'open' ? undefined : { kind: 'no-slot', code: gate.code, reason: gate.reason }
  }
  return withReservation(endpointOf(deps, transfer), transfer, restriction, (found) => found === undefined)
}

function haltedBy(deps: Deps, transfer: Transfer): Waiting | undefined {
  const halt = haltOf(deps.settings(), transfer)
  return halt && { kind: 'waiting', code: 'HALTED', reason: `halted by ${halt.by}: ${halt.reason}`, retryInMs: haltedMs }
}

/** A denial is policy: it may be decided differently later. */
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
