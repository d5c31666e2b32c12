const minuteMs = 60_000
/** Sums are kept for so long each, ms: an hour is counted as 60 to 65 minutes. */
const bucketMs = 5 * minuteMs
/** What is counted together, ms. */
export const windows = { hour: 60 * minuteMs, day: 24 * 60 * minuteMs } as const
export type Window = keyof typeof windows
/** Sums that are kept: of more than a week in which something is signed every five minutes. A clock tells which count, never which are forgotten: it may go forward and back. */
const mostBuckets = 2_400
/** Nonces whose dearest attempt is known: many times a lane's largest window. One that was forgotten counts in full when it is signed again. */
const mostNonces = 1_024

/** What a key has signed for, each nonce once, by its dearest attempt. Pure: time is told. */
export class SpendingCounter {
  /** Start of the bucket, ms since the epoch → wei. */
  readonly #buckets = new Map<number, bigint>()
  /** Nonce → wei, oldest first. */
  readonly #dearest = new Map<number, bigint>()

  /** What a transaction adds, wei: what its nonce was signed for before is counted already. @param nonce absent: a new one */
  added(cost: bigint, nonce: number | undefined): bigint {
    const before = nonce === undefined ? 0n : (this.#dearest.get(nonce) ?? 0n)
    return cost > before ? cost - before : 0n
  }

  /** Counts an attempt that is about to be signed. */
  charge(cost: bigint, nonce: number, nowMs: number): void {
    const added = this.added(cost, nonce)
    if (added === 0n) return
    this.#dearest.delete(nonce)
    for (const oldest of this.#dearest.keys()) {
      if (this.#dearest.size < mostNonces) break
      this.#dearest.delete(oldest)
    }
    this.#dearest.set(nonce, cost)
    const bucket = nowMs - (nowMs % bucketMs)
    this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0n) + added)
    if (this.#buckets.size > mostBuckets) this.#buckets.delete(Math.min(...this.#buckets.keys()))
  }

  /** Of the last hour or day, wei. What a clock that was set back shows in the future counts as well. */
  spent(window: Window, nowMs: number): bigint {
    let sum = 0n
    for (const [start, wei] of this.#buckets) if (start > nowMs - windows[window] - bucketMs) sum += wei
    return sum
  }
}
