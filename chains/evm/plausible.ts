/** Keys that are remembered, the oldest first to go. */
const mostKeys = 1_000

/**
 * What more than half of the nodes have said before, by kind of question. An answer of one node that is near it costs no question to the others; one
 * that is far from it is asked of all.
 */
export function createPlausible({ lowest, highest }: { readonly lowest: number; readonly highest: number }) {
  const ranges = new Map<string, { least: number; most: number }>()
  return {
    /** Is it at least `lowest` times the least, and at most `highest` times the most, of what was agreed on? */
    has(kind: string, value: number): boolean {
      const range = ranges.get(kind)
      return range !== undefined && value >= range.least * lowest && value <= range.most * highest
    },
    agreed(kind: string, value: number): void {
      const range = ranges.get(kind) ?? { least: value, most: value }
      ranges.delete(kind)
      ranges.set(kind, { least: Math.min(range.least, value), most: Math.max(range.most, value) })
      const [oldest] = ranges.keys()
      if (ranges.size > mostKeys && oldest !== undefined) ranges.delete(oldest)
    },
    forget: (kind: string) => void ranges.delete(kind),
  }
}
