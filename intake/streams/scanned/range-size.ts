const answersBeforeGrowth = 4

/** Adapts the length of a read of logs to the limits of the nodes, blocks. */
export function createRangeSize(most: number) {
  let size = most
  let answers = 0
  return {
    get blocks(): number {
      return size
    },
    /** The range was too long for a node: the next ones have half the length. False: it was a single block. */
    refused(blocks: number): boolean {
      answers = 0
      size = Math.max(1, Math.floor(blocks / 2))
      return blocks > 1
    },
    answered(blocks: number): void {
      // Only a range of the full length shows that a longer one may be answered.
      if (blocks < size || size === most || ++answers < answersBeforeGrowth) return
      answers = 0
      size = Math.min(most, size * 2)
    },
  }
}
