/** Most heights that are kept: the length of a live range. */
const mostKept = 64

/** Remembers when this process saw the latest heights become final. */
export function createFinalityTimes(now: () => number = Date.now) {
  /** By height, ascending, ms since the epoch. */
  const seen: { readonly height: number; readonly at: number }[] = []
  return {
    /** Call it at each event of the head. */
    see(finalized: number): void {
      // Finality only goes back if the chain was replaced.
      while ((seen.at(-1)?.height ?? -1) > finalized) seen.pop()
      if (seen.at(-1)?.height === finalized) return
      seen.push({ height: finalized, at: now() })
      if (seen.length > mostKept) seen.shift()
    },
    /** ms since the epoch. Undefined: too long ago. */
    since(height: number): number | undefined {
      const first = seen.findIndex((one) => one.height >= height)
      // The first kept height may have come together with much older blocks.
      return first <= 0 ? undefined : seen[first]?.at
    },
  }
}

export type FinalityTimes = ReturnType<typeof createFinalityTimes>
