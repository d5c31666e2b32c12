import { LRUCache } from 'lru-cache'

const minuteMs = 60_000
/** Range of one sum, ms: an hour is counted as 60 to 65 minutes. */
const bucketMs = 5 * minuteMs
/** Ms. */
export const windows = { hour: 60 * minuteMs, day: 24 * 60 * minuteMs } as const
export type Window = keyof typeof windows
/** More than a week. A jumping clock decides which sums count, but not which are forgotten. */
const mostBuckets = 2_400
/** A forgotten nonce counts in full when it is signed again. */
const mostNonces = 1_024

/** Cost of a key's signatures: each nonce once, by its dearest attempt. */
export class SpendingCounter {
  /** Start, ms since the epoch → wei. */
  readonly #buckets = new Map<number, bigint>()
  readonly #dearest = new LRUCache<number, bigint>({ max: mostNonces })

  /** Wei beyond those the nonce was signed for before. @param nonce absent: a new one */
  added(cost: bigint, nonce: number | undefined): bigint {
    const before = nonce === undefined ? 0n : (this.#dearest.peek(nonce) ?? 0n)
    return cost > before ? cost - before : 0n
  }

  /** Call before an attempt is signed. */
  charge(cost: bigint, nonce: number, nowMs: number): void {
    const added = this.added(cost, nonce)
    if (added === 0n) return
    this.#dearest.set(nonce, cost)
    const bucket = nowMs - (nowMs % bucketMs)
    this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0n) + added)
    if (this.#buckets.size > mostBuckets) this.#buckets.delete(Math.min(...this.#buckets.keys()))
  }

  /** Wei. Sums in the future, after a clock was set back, also count. */
  spent(window: Window, nowMs: number): bigint {
    let sum = 0n
    for (const [start, wei] of this.#buckets) if (start > nowMs - windows[window] - bucketMs) sum += wei
    return sum
  }
}
