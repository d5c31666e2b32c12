import { LRUCache } from 'lru-cache'

const mostKeys = 1_000

/** Remembers the range of values on which most nodes have agreed. A single node's value counts only near this range. */
export function createPlausible({ lowest, highest }: { readonly lowest: number; readonly highest: number }) {
  const ranges = new LRUCache<string, { readonly least: number; readonly most: number }>({ max: mostKeys })
  return {
    has(kind: string, value: number): boolean {
      const range = ranges.get(kind)
      return range !== undefined && value >= range.least * lowest && value <= range.most * highest
    },
    agreed(kind: string, value: number): void {
      const { least, most } = ranges.get(kind) ?? { least: value, most: value }
      ranges.set(kind, { least: Math.min(least, value), most: Math.max(most, value) })
    },
    forget: (kind: string) => void ranges.delete(kind),
  }
}
