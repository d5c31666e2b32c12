/** Blocks: no chain grows as far between two looks, and what lies between two heads further apart is not read. */
export const longestGap = 1_024

/**
 * How far each node lags behind the best, blocks; undefined: it did not answer. A node that is further above our head (`known`) and above more than
 * half of the `readers` than a chain grows between two looks is not the best: it counts as far behind as it is above.
 */
export function lagsOf(heights: readonly (number | undefined)[], readers: number, known?: number): (number | undefined)[] {
  const told = heights.filter((height) => height !== undefined).sort((a, b) => b - a)
  const reached = told[Math.floor(readers / 2)]
  // Two that differ, and nothing else to go by: the lower one is more likely to be syncing than the other to lie.
  const open = known === undefined && (reached === undefined || readers < 3)
  const highest = open ? Infinity : Math.max(known ?? 0, reached ?? 0) + longestGap
  const best = Math.max(0, ...told.filter((height) => height <= highest))
  return heights.map((height) => (height === undefined ? undefined : Math.abs(best - height)))
}
