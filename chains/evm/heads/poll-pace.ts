/** At most, and at least, so long between two polls of a chain of which nothing is known, ms. */
const longestMs = 4_000
const shortestMs = 100
/** After so many heads in a row that came one by one, about as far apart as those before, the next is expected as far from the last. */
const regularFrom = 3
/** How far apart those are, in expected intervals: what a poll sees is up to half an interval late. */
const usual = { least: 0.4, most: 1.7 } as const
/** Heads whose distance is measured. */
const mostHeads = 9
/** A poll that found the head at once is so much earlier the next time, in intervals: until it is too early, so that it is never late for long. */
const step = 1 / 32
/** When the next polls come after one that was too early, in intervals; then the chain is late, and is polled as one of which nothing is known. */
const retries = [1 / 8, 1 / 8, 1 / 4]
const leastRetryMs = 50

/**
 * When to poll: twice per block, or, where blocks come regularly, when the next is due. That takes five polls for four blocks instead of eight, and sees a block a
 * sixteenth of the interval late instead of a quarter. No I/O. @param now ms, monotonic
 */
export function createPollPace(blockTimeMs: number, now: () => number) {
  const intervalMs = Math.min(longestMs, Math.max(shortestMs, blockTimeMs / 2))
  let heads: { readonly at: number; readonly height: number }[] = []
  let regular = 0
  let misses = 0
  /** When the next head is due; undefined: nobody knows. */
  let dueAt: number | undefined

  function expectedMs(): number {
    const [first, last] = [heads[0], heads.at(-1)]
    if (!first || !last || first === last) return blockTimeMs
    return (last.at - first.at) / (last.height - first.height)
  }

  function seen(at: number, height: number): void {
    const last = heads.at(-1)
    const expected = expectedMs()
    const apart = last ? (at - last.at) / expected : 0
    const isUsual = height - (last?.height ?? 0) === 1 && apart >= usual.least && apart <= usual.most
    if (last && height <= last.height) heads = []
    regular = isUsual ? regular + 1 : 0
    heads = [...heads, { at, height }].slice(-mostHeads)
    const early = misses === 0 && dueAt !== undefined ? step : 0
    misses = 0
    dueAt = regular >= regularFrom ? at + (1 - early) * expectedMs() : undefined
  }

  /** When to poll after one that began at `at`. */
  function nextAt(at: number): number {
    if (dueAt === undefined) return at + intervalMs
    // A chain that is not as regular as it was is seen after two usual intervals at the latest.
    if (at < dueAt) return Math.min(dueAt, at + 2 * intervalMs)
    const retry = retries[misses++]
    if (retry !== undefined) return at + Math.max(leastRetryMs, retry * expectedMs())
    regular = 0
    dueAt = undefined
    return at + intervalMs
  }

  return {
    intervalMs,
    /** ms until the next poll, after one that began at `at` and left the head at this height; undefined: there is none yet. */
    after(at: number, height: number | undefined): number {
      const isNew = height !== undefined && height !== heads.at(-1)?.height
      if (isNew) seen(at, height)
      return Math.max(10, nextAt(at) - now())
    },
  }
}
