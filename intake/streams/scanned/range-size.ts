const answersBeforeGrowth = 4

export function createRangeSize(most: number) {
  let size = most
  let answers = 0
  return {
    get blocks(): number {
      return size
    },
    /** Halves the next ranges. Returns false if the refused range was a single block. */
    refused(blocks: number): boolean {
      answers = 0
      size = Math.max(1, Math.floor(blocks / 2))
      return blocks > 1
    },
    answered(blocks: number): void {
      // Only an answer for a full range shows that longer ranges may be answered.
      if (blocks < size || size === most || ++answers < answersBeforeGrowth) return
      answers = 0
      size = Math.min(most, size * 2)
    },
  }
}
