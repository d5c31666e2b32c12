interface Kept<T> {
  readonly value: Promise<T>
  readonly readAt: number
}

/** Ms. A contract's owner may change such values, so they are read again after this time. */
export const ttlMs = 60_000
/** Ms. A value that a message contradicts is read again, but not more often. */
export const doubtedEveryMs = 1_000

export type Keep<K, T> = (key: K, maxAgeMs: number, make: () => Promise<T>) => Promise<T>

/** Keeps values that were read. Without a new answer, the last known value is used. */
export function createKeep<K, T>(clock = () => performance.now()): Keep<K, T> {
  const cache = new Map<K, Kept<T>>()
  return function keep(key, maxAgeMs, make) {
    const known = cache.get(key)
    if (known && clock() - known.readAt < maxAgeMs) return known.value
    const value = make().catch((error: unknown) => {
      // `validate` checks again before anything is sent.
      if (known) return known.value
      throw error
    })
    const made = { value, readAt: clock() }
    cache.set(key, made)
    value.catch(() => cache.get(key) === made && cache.delete(key))
    return value
  }
}
