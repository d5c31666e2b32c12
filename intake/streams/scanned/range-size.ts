const answersBeforeGrowth = 4

/** Adapts the number of blocks that one read of logs covers to the limits of the nodes. */
export function createRangeSize(most: number) {
  let size = most
  let answers = 0
  return {
    get blocks(): number {
      return size
    },
    /** Halves the next ranges after a node refused one as too long. False: it was a single block. */
    refused(blocks: number): boolean {
      answers = 0
      size = Math.max(1, Math.floor(blocks / 2))
      return blocks > 1
    },
    answered(blocks: number): void {
      // Only an answer for a range of the full length shows that a longer range may be answered.
      if (blocks < size || size === most || ++answers < answersBeforeGrowth) return
      answers = 0
      size = Math.min(most, size * 2)
    },
  }
}
