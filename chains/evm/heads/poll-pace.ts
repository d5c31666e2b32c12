const longestMs = 4_000
const shortestMs = 100
const regularFrom = 3
/**
 * A head counts as regular if it comes between these multiples of the expected time. The range is wide, because a poll
 * may notice a head late.
 */
const usual = { least: 0.4, most: 1.7 } as const
const mostHeads = 9
/** Share of a block time by which the next poll comes earlier, if a planned poll finds its block at the first try. */
const step = 1 / 32
/** Pauses after polls that came too early, as shares of a block time. */
const retries = [1 / 8, 1 / 8, 1 / 4]
const leastRetryMs = 50

/**
 * On a regular chain, plans one poll per block, when the block is due. On other chains, plans two polls per block.
 * `now` returns ms.
 */
export function createPollPace(blockTimeMs: number, now: () => number) {
  const intervalMs = Math.min(longestMs, Math.max(shortestMs, blockTimeMs / 2))
  let heads: { readonly at: number; readonly height: number }[] = []
  let regular = 0
  let misses = 0
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

  function nextAt(at: number): number {
    if (dueAt === undefined) return at + intervalMs
    if (at < dueAt) return Math.min(dueAt, at + 2 * intervalMs)
    const retry = retries[misses++]
    if (retry !== undefined) return at + Math.max(leastRetryMs, retry * expectedMs())
    regular = 0
    dueAt = undefined
    return at + intervalMs
  }

  return {
    intervalMs,
    after(at: number, height: number | undefined): number {
      const isNew = height !== undefined && height !== heads.at(-1)?.height
      if (isNew) seen(at, height)
      return Math.max(10, nextAt(at) - now())
    },
  }
}
