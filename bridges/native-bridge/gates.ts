import type { Gate } from '../port.ts'

/** Amounts in the token's smallest unit. */
export interface InboundLimits {
  /** UTC day of `used`: whole days since the epoch. */
  readonly day: number
  readonly used: bigint
  /** Exclusive limit of `used`: the fund's balance divided by the risk denominator. */
  readonly cap: bigint
  readonly paused: boolean
  readonly mayComplete: boolean
}

/** The contract's day: `block.timestamp / 1 days`. */
export const daySeconds = 86_400

/**
 * Role, pause, cap, budget. The contract's pause stops initiations only, but its operator means completions too.
 * An empty fund closes the route and parks nothing. A new day has the whole budget.
 * @param now time of the target chain, seconds since the epoch
 * @param reserved amounts of other transfers that the contract does not count yet
 */
export function gateOf(limits: InboundLimits, amount: bigint, now: number, reserved = 0n): Gate {
  const { cap, paused, mayComplete } = limits
  if (!mayComplete) return { kind: 'lane', code: 'BRIDGE_ROLE_MISSING', reason: 'the key of this lane must be granted RELAYER_ROLE' }
  if (paused) return { kind: 'route', code: 'BRIDGE_PAUSED', reason: 'the native bridge is paused' }
  if (cap <= 1n) return { kind: 'route', code: 'BRIDGE_BUDGET', reason: 'the insurance fund is empty, so no transfer can complete' }
  if (amount >= cap) return { kind: 'transfer', code: 'BRIDGE_CAP', reason: `the amount ${amount} is not below the daily cap ${cap}` }
  const used = usedAt(limits, now)
  if (used + reserved + amount < cap) return { kind: 'open' }
  const opensAt = (Math.floor(now / daySeconds) + 1) * daySeconds
  const renewal = new Date(opensAt * 1_000).toISOString().replace('.000Z', 'Z')
  const underway = reserved > 0n ? `, ${reserved} is on its way` : ''
  const reason = `${used} of ${cap} is used today${underway}, and ${amount} does not fit below; the budget renews at ${renewal}`
  return { kind: 'route', code: 'BRIDGE_BUDGET', reason, opensAt }
}

/** Transfers that fit the day's budget together. Others are skipped: the contract undoes an oversized batch. */
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
