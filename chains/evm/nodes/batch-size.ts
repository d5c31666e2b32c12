/** chainlink-evm's smallest default (Polygon): every provider takes it. */
const mostCalls = 100
/** A batch that was refused makes the next ones smaller; after so long twice as many calls are tried again, ms. A limit may have been raised, or was no limit. */
const growEveryMs = 60_000

/** How many calls go into one request to a node. `now`: ms, monotonic. No I/O. */
export function createBatchSize(now: () => number) {
  let size = mostCalls
  let changedAt = 0
  return {
    get size(): number {
      while (size < mostCalls && now() - changedAt >= growEveryMs) {
        size = Math.min(mostCalls, size * 2)
        changedAt += growEveryMs
      }
      return size
    },
    /** A batch of so many was too large. */
    refused(calls: number): void {
      size = Math.max(1, Math.min(size, Math.ceil(calls / 2)))
      changedAt = now()
    },
  }
}
