/** Ranges that a node has to answer before the next one is tried at twice the length. */
const answersBeforeGrowth = 4

export type RangeSize = ReturnType<typeof createRangeSize>

/** How many blocks one read of logs asks for. */
export function createRangeSize(most: number) {
  let size = most
  let answers = 0
  return {
    get blocks(): number {
      return size
    },
    /** The range is too long for a node: half as many from now on. False: it was one block, which cannot be split. */
    refused(blocks: number): boolean {
      answers = 0
      size = Math.max(1, Math.floor(blocks / 2))
      return blocks > 1
    },
    answered(blocks: number): void {
      // Only a range of the full size says something about a longer one.
      if (blocks < size || size === most || ++answers < answersBeforeGrowth) return
      answers = 0
      size = Math.min(most, size * 2)
    },
  }
}
