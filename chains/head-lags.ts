/** chainlink-evm SyncThreshold: a node more blocks than this behind the head of the majority is asked last. */
export const mostLag = 5

/** Blocks: no chain grows as far between two looks, and what lies between two heads further apart is not read. */
export const longestGap = 1_024

/** An honest node may be so many blocks above the head of the majority: some nodes hear of blocks before others. */
const mostAhead = 64

/**
 * The highest block that more than half of `nodes` have reached; where fewer told theirs, the lowest of those;
 * undefined: none did.
 */
export function majorityHeight(heights: readonly (number | undefined)[], nodes: number): number | undefined {
  const told = heights.filter((height) => height !== undefined).sort((a, b) => b - a)
  return told[Math.min(Math.floor(nodes / 2), told.length - 1)]
}

/**
 * The head that nodes are compared with: that of the majority. Of two, the higher one, since the other is more likely
 * to be syncing than it to lie, unless it is further above our head (`known`) than a chain grows between two looks.
 */
export function comparedHeight(heights: readonly (number | undefined)[], nodes: number, known?: number): number | undefined {
  const told = heights.filter((height) => height !== undefined)
  const highest = Math.max(...told)
  const isPlausible = known === undefined || highest <= known + longestGap
  return nodes === 2 && told.length === 2 && isPlausible ? highest : majorityHeight(heights, nodes)
}

/**
 * How far a node is from the head of the majority, blocks: behind it, or so far above it that it is no node of this
 * chain; 0 if it is only a little above. One node's head, however high, makes no other node lag. Undefined: it did not
 * tell its head, or nobody did.
 */
export function lagOf(height: number | undefined, reached: number | undefined): number | undefined {
  if (height === undefined || reached === undefined) return undefined
  if (height <= reached) return reached - height
  return height - reached > mostAhead ? height - reached : 0
}
