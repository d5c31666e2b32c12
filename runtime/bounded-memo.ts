/** Makes each value once while it is among the last `most` that were made. What `make` throws is not kept. For what depends on the key alone. */
export function boundedMemo<K, V>(most: number, make: (key: K) => V): (key: K) => V {
  const made = new Map<K, V>()
  return (key) => {
    const before = made.get(key)
    if (before !== undefined) return before
    const value = make(key)
    const [oldest] = made.keys()
    if (made.size >= most && oldest !== undefined) made.delete(oldest)
    made.set(key, value)
    return value
  }
}
