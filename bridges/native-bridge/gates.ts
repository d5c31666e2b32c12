import type { Gate } from '../port.ts'

/** The target contract's limits, as read at one moment. Amounts in the token's smallest unit. */
export interface InboundLimits {
  /** The UTC day that `used` is of: whole days since the epoch. */
  readonly day: number
  /** What completions of that day amount to. */
  readonly used: bigint
  /** `used` must stay below: the insurance fund's balance divided by the risk denominator. */
  readonly cap: bigint
  readonly paused: boolean
  /** Does the account that was asked for have RELAYER_ROLE? */
  readonly mayComplete: boolean
}

/** The contract's day: `block.timestamp / 1 days`. */
export const daySeconds = 86_400

/**
 * The gate that a transfer of this amount meets. In this order: role, pause, cap, budget. The pause of the deployed contract stops initiations only; an
 * operator who pauses the bridge means both, so completions wait here too. A cap that lets nothing in at all (no fund) concerns the route, not the transfer: it waits.
 * @param now time of the target chain, seconds since the epoch; limits of an earlier day have their whole budget again
 * @param reserved for others, and not counted by the contract yet
 */
export function gateOf(limits: InboundLimits, amount: bigint, now: number, reserved = 0n): Gate {
  const { cap, paused, mayComplete } = limits
  if (!mayComplete) return { kind: 'lane', code: 'BRIDGE_ROLE_MISSING', reason: 'the key of this lane must be granted RELAYER_ROLE' }
  if (paused) return { kind: 'route', code: 'BRIDGE_PAUSED', reason: 'the native bridge is paused' }
  if (cap <= 1n) return { kind: 'route', code: 'BRIDGE_BUDGET', reason: 'the insurance fund is empty: nothing is let in' }
  if (amount >= cap) return { kind: 'transfer', code: 'BRIDGE_CAP', reason: `the amount ${amount} is not below the daily cap ${cap}` }
  const used = usedAt(limits, now)
  if (used + reserved + amount < cap) return { kind: 'open' }
  const opensAt = (Math.floor(now / daySeconds) + 1) * daySeconds
  const renewal = new Date(opensAt * 1_000).toISOString().replace('.000Z', 'Z')
  const underway = reserved > 0n ? `, ${reserved} is on its way` : ''
  const reason = `${used} of ${cap} is used today${underway}, and ${amount} does not fit below; the budget renews at ${renewal}`
  return { kind: 'route', code: 'BRIDGE_BUDGET', reason, opensAt }
}

/** Those that fit into the rest of the day together, in order, passing over others: the contract adds a batch up, and undoes all if one does not fit. */
export function fitting<T extends { readonly amount: bigint }>(
  limits: InboundLimits,
  transfers: readonly T[],
  now: number,
  reserved = 0n,
): readonly T[] {
  let used = usedAt(limits, now) + reserved
  return transfers.filter(({ amount }) => {
    const fits = used + amount < limits.cap
    if (fits) used += amount
    return fits
  })
}

function usedAt({ day, used }: InboundLimits, now: number): bigint {
  return Math.floor(now / daySeconds) > day ? 0n : used
}
