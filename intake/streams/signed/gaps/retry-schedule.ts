import { backoffMs } from '../../../../domain/backoff.ts'
import type { Gap } from '../../../../domain/stream/stream.ts'
import type { GapClass } from './classify-gaps.ts'

const mostNumbers = 20_000
/** First wait before a number is asked for again, ms. */
const firstWaitMs = 5_000

/** When each missing number is asked for again: less and less often, up to `auditMs`, and for unobserved ones twelve times as long. */
export function createRetrySchedule(auditMs: number) {
  const tries = new Map<string, { readonly count: number; readonly triedAt: number; readonly dueAt: number }>()
  return {
    isDue: (number: string) => (tries.get(number)?.dueAt ?? 0) <= Date.now(),
    later(number: string, gapClass: GapClass | undefined, againInMs: number | undefined): void {
      const count = tries.get(number)?.count ?? 0
      const most = gapClass === 'unobserved' ? 12 * auditMs : auditMs
      const wait = Math.min(backoffMs(count, Math.min(firstWaitMs, auditMs), most), againInMs ?? Infinity)
      const now = Date.now()
      tries.set(number, { count: count + 1, triedAt: now, dueAt: now + wait })
      for (const oldest of tries.keys()) {
        if (tries.size <= mostNumbers) break
        tries.delete(oldest)
      }
    },
    forget: (number: string) => void tries.delete(number),
    /** Forgets numbers that are in none of these gaps. */
    prune(gaps: readonly Gap[]): void {
      const ranges = gaps.map(({ from, to }) => [BigInt(from), BigInt(to)] as const)
      for (const number of tries.keys()) {
        const at = BigInt(number)
        if (!ranges.some(([from, to]) => from <= at && at <= to)) tries.delete(number)
      }
    },
    /** All that were not asked for just now are due. */
    hurry(): void {
      const now = Date.now()
      for (const [number, one] of tries) if (one.triedAt < now - firstWaitMs) tries.set(number, { ...one, dueAt: now })
    },
    /** ms since the epoch; Infinity: nothing waits. */
    get nextAt(): number {
      return Math.min(...[...tries.values()].map(({ dueAt }) => dueAt))
    },
  }
}
