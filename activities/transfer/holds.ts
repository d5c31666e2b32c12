import { laneAddress } from '../../domain/lane/lane-id.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import { denialOf, haltOf } from '../../domain/settings/settings.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { BroadcastResult, Stopped } from '../../temporal/contracts/transfer-steps.ts'
import { withReservation } from '../../bridges/gates/reservation.ts'
import { endpointOf } from '../deps.ts'
import type { StepDeps } from '../deps.ts'

/** Between two looks at a halt, ms, to begin with; the workflow doubles it up to a minute. */
const haltedMs = 5_000
/** A lane that finds a gate closed says so: the next admission waits for it, and knows for how long. */
const closedMs = 1_000

type Halted = Extract<Stopped, { kind: 'waiting' }>
type NoSlot = Extract<BroadcastResult, { kind: 'no-slot' }>

/** What halts this transfer now. What waits for it holds no nonce. */
export function haltedBy(deps: Pick<StepDeps, 'settings'>, transfer: Transfer): Halted | undefined {
  const halt = haltOf(deps.settings(), transfer)
  return halt && { kind: 'waiting', code: 'HALTED', reason: `halted by ${halt.by}: ${halt.reason}`, retryInMs: haltedMs }
}

/** The same, as a lane's step says it: no nonce was given, or it was given back unsigned. */
export function noSlotBy({ code, reason, retryInMs }: Halted): NoSlot {
  return { kind: 'no-slot', code, reason, retryInMs }
}

/**
 * What holds a transfer back from a nonce of this lane: a halt, or its bridge's gate, which may have closed since it was admitted. Throws what
 * reads throw.
 */
export async function heldBack(
  deps: Pick<StepDeps, 'settings' | 'bridges'>,
  transfer: Transfer,
  lane: LaneId,
): Promise<NoSlot | undefined> {
  return withReservation(
    endpointOf(deps, transfer),
    transfer,
    async (reserve) => {
      const halted = haltedBy(deps, transfer)
      if (halted) return noSlotBy(halted)
      const gate = await reserve(laneAddress(lane))
      if (gate.kind === 'open') return undefined
      return { kind: 'no-slot', code: gate.code, reason: gate.reason, retryInMs: closedMs }
    },
    (held) => held === undefined,
  )
}

/** What denies this transfer now: policy, so that it can be decided again. */
export function deniedBy(
  deps: Pick<StepDeps, 'settings' | 'bridges'>,
  transfer: Transfer,
): Extract<Stopped, { kind: 'rejected' | 'declined' }> | undefined {
  const settings = deps.settings()
  if (settings.denied.length === 0) return undefined
  const denial = denialOf(settings, transfer.targetChain, endpointOf(deps, transfer).parties(transfer))
  if (!denial) return undefined
  const { kind, value, by, reason } = denial
  return {
    kind: 'declined',
    code: kind === 'token' ? 'TOKEN_DENIED' : 'RECIPIENT_DENIED',
    reason: `${kind} ${value} was denied by ${by}: ${reason}`,
  }
}
