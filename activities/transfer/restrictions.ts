import { laneAddress, type LaneId } from '../../domain/lane/lane-id.ts'
import { denyRuleOf, haltOf } from '../../domain/settings/settings.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { BroadcastResult, Stopped } from '../../temporal/contracts/transfer-steps.ts'
import { withReservation } from '../../bridges/gates/reservation.ts'
import { endpointOf, type StepDeps } from '../deps.ts'

/** First wait while halted, ms; the workflow doubles it up to a minute. */
const haltedMs = 5_000

type Waiting = Extract<Stopped, { kind: 'waiting' }>
type NoSlot = Extract<BroadcastResult, { kind: 'no-slot' }>

/** The halt that applies to this transfer now. */
export function haltedBy(deps: Pick<StepDeps, 'settings'>, transfer: Transfer): Waiting | undefined {
  const halt = haltOf(deps.settings(), transfer)
  return halt && { kind: 'waiting', code: 'HALTED', reason: `halted by ${halt.by}: ${halt.reason}`, retryInMs: haltedMs }
}

/**
 * Why a transfer may not use a nonce of this lane now: a halt, or its bridge's gate, which may have closed since it was admitted. Undefined: it may.
 * Throws what reads throw.
 */
export async function restrictionOf(
  deps: Pick<StepDeps, 'settings' | 'bridges'>,
  transfer: Transfer,
  lane: LaneId,
): Promise<NoSlot | undefined> {
  return withReservation(
    endpointOf(deps, transfer),
    transfer,
    async (reserve) => {
      const halted = haltedBy(deps, transfer)
      if (halted) return { kind: 'no-slot', code: halted.code, reason: halted.reason }
      const gate = await reserve(laneAddress(lane))
      if (gate.kind === 'open') return undefined
      return { kind: 'no-slot', code: gate.code, reason: gate.reason }
    },
    (restriction) => restriction === undefined,
  )
}

/** The denial that applies to this transfer now. It is policy, so that it can be decided again. */
export function deniedBy(
  deps: Pick<StepDeps, 'settings' | 'bridges'>,
  transfer: Transfer,
): Extract<Stopped, { kind: 'rejected' | 'declined' }> | undefined {
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
