import { backoffMs } from '../../../../domain/backoff.ts'
import { hasGap } from '../../../../domain/stream/gaps.ts'
import type { Gap } from '../../../../domain/stream/stream.ts'
import { boundedMap } from '../../../../runtime/bounded-map.ts'
import type { GapClass } from './classify-gaps.ts'

const mostNumbers = 20_000
const firstWaitMs = 5_000

export type RetrySchedule = ReturnType<typeof createRetrySchedule>

/** When to ask for a number again. The wait grows to `auditMs`, for unobserved numbers to twelve times that. */
export function createRetrySchedule(auditMs: number) {
  const tries = boundedMap<string, { readonly count: number; readonly triedAt: number; readonly dueAt: number }>(mostNumbers)
  return {
    isDue: (number: string) => (tries.peek(number)?.dueAt ?? 0) <= Date.now(),
    later(number: string, gapClass: GapClass | undefined, againInMs: number | undefined): void {
      const count = tries.peek(number)?.count ?? 0
      const most = gapClass === 'unobserved' ? 12 * auditMs : auditMs
      const wait = Math.min(backoffMs(count, Math.min(firstWaitMs, auditMs), most), againInMs ?? Infinity)
      const now = Date.now()
      tries.set(number, { count: count + 1, triedAt: now, dueAt: now + wait })
    },
    forget: (number: string) => void tries.delete(number),
    prune(gaps: readonly Gap[]): void {
      for (const number of [...tries.keys()]) if (!hasGap(gaps, BigInt(number))) tries.delete(number)
    },
    /** Makes all numbers due that were not asked for just now. */
    hurry(): void {
      const now = Date.now()
      for (const [number, one] of [...tries.entries()]) if (one.triedAt < now - firstWaitMs) tries.set(number, { ...one, dueAt: now })
    },
    /** ms since the epoch. Infinity: no number waits. */
    get nextAt(): number {
      let at = Infinity
      for (const { dueAt } of tries.values()) at = Math.min(at, dueAt)
      return at
    },
  }
}
