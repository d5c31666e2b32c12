/** Heights that are remembered: a live range ends at most so many blocks behind the head. */
const mostKept = 64

/** When this process saw the newest heights become final. */
export function createFinalityTimes(now: () => number = Date.now) {
  /** By height, ascending, ms since the epoch. */
  const seen: { readonly height: number; readonly at: number }[] = []
  return {
    /** At each event of the head. */
    see(finalized: number): void {
      // Finality goes back only with a chain that was replaced.
      while ((seen.at(-1)?.height ?? -1) > finalized) seen.pop()
      if (seen.at(-1)?.height === finalized) return
      seen.push({ height: finalized, at: now() })
      if (seen.length > mostKept) seen.shift()
    },
    /** When this height was first seen as final, ms since the epoch; undefined: before what is remembered. */
    since(height: number): number | undefined {
      const first = seen.findIndex((one) => one.height >= height)
      // The first that is kept may have come with blocks of long before.
      return first <= 0 ? undefined : seen[first]?.at
    },
  }
}

export type FinalityTimes = ReturnType<typeof createFinalityTimes>
