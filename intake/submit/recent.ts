export type Recent = ReturnType<typeof createRecent>

/** Remembers the last `size` keys for `forMs` each, with what was learnt of them, so that repeats need no request. */
export function createRecent<Value = undefined>(size: number, forMs: number, clock: () => number = () => performance.now()) {
  const seen = new Map<string, { readonly at: number; readonly value: Value | undefined }>()
  const find = (key: string) => {
    const found = seen.get(key)
    return found && clock() - found.at < forMs ? found : undefined
  }
  return {
    has: (key: string): boolean => find(key) !== undefined,
    /** Undefined: nothing was, or it is too long ago. */
    get: (key: string): Value | undefined => find(key)?.value,
    delete: (key: string) => void seen.delete(key),
    clear: () => seen.clear(),
    add(key: string, value?: Value): void {
      // Deleted first, so that the order is that of the last time.
      seen.delete(key)
      seen.set(key, { at: clock(), value })
      for (const oldest of seen.keys()) {
        if (seen.size <= size) break
        seen.delete(oldest)
      }
    },
  }
}
