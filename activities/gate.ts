import { denialOf, haltOf } from '../domain/settings.ts'
import type { Transfer } from '../domain/transfer.ts'
import type { BroadcastResult, Stopped } from '../temporal/steps.ts'
import { endpointOf } from './deps.ts'
import type { StepDeps } from './deps.ts'

/** Between two looks at a halt, ms, to begin with; the workflow doubles it up to a minute. */
const haltedMs = 5_000

type Halted = Extract<Stopped, { kind: 'waiting' }>

/** What halts this transfer now. What waits for it holds no nonce. */
export function haltedBy(deps: Pick<StepDeps, 'settings'>, transfer: Transfer): Halted | undefined {
  const halt = haltOf(deps.settings(), transfer)
  return halt && { kind: 'waiting', code: 'HALTED', reason: `halted by ${halt.by}: ${halt.reason}`, retryInMs: haltedMs }
}

/** The same, as a lane's step says it: no nonce was given, or it was given back unsigned. */
export function noSlotBy({ code, reason, retryInMs }: Halted): Extract<BroadcastResult, { kind: 'no-slot' }> {
  return { kind: 'no-slot', code, reason, retryInMs }
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
