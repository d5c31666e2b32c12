/** chainlink-evm SyncThreshold: nodes this many blocks behind the majority's head are asked last. */
export const mostLag = 5

/** More blocks than a chain grows between two polls. Blocks of a wider gap are not read. */
export const longestGap = 1_024

/** Blocks that an honest node may be above the majority's head. */
const mostAhead = 64

/** Highest block that more than half have reached, else the lowest known. Undefined: no answer. */
export function majorityHeight(heights: readonly (number | undefined)[], nodes: number): number | undefined {
  const known = heights.filter((height) => height !== undefined).sort((a, b) => b - a)
  return known[Math.min(Math.floor(nodes / 2), known.length - 1)]
}

/** The majority's head. Of two nodes the higher one, unless it is implausibly far above our head (`own`). */
export function comparedHeight(heights: readonly (number | undefined)[], nodes: number, own?: number): number | undefined {
  const known = heights.filter((height) => height !== undefined)
  const highest = Math.max(...known)
  const isPlausible = own === undefined || highest <= own + longestGap
  return nodes === 2 && known.length === 2 && isPlausible ? highest : majorityHeight(heights, nodes)
}

/** Blocks behind the majority (`reached`), or far above it; 0 if slightly above. Undefined: a head is unknown. */
export function lagOf(height: number | undefined, reached: number | undefined): number | undefined {
  if (height === undefined || reached === undefined) return undefined
  if (height <= reached) return reached - height
  return height - reached > mostAhead ? height - reached : 0
}
