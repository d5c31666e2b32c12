export type Recent = ReturnType<typeof createRecent>

/** Remembers the last `size` keys for `forMs` each, so that repeats need no request. */
export function createRecent(size: number, forMs: number, clock: () => number = () => performance.now()) {
  const seenAt = new Map<string, number>()
  return {
    has(key: string): boolean {
      const at = seenAt.get(key)
      return at !== undefined && clock() - at < forMs
    },
    delete: (key: string) => void seenAt.delete(key),
    clear: () => seenAt.clear(),
    add(key: string): void {
      // Deleted first, so that the order is that of the last time.
      seenAt.delete(key)
      seenAt.set(key, clock())
      for (const oldest of seenAt.keys()) {
        if (seenAt.size <= size) break
        seenAt.delete(oldest)
      }
    },
  }
}
