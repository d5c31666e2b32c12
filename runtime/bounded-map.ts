import { LRUCache } from 'lru-cache'

/**
 * A map of at most `most` entries, each kept for `forMs` (absent: without end). The entry that was unused for longest
 * is dropped first. It is bounded by `maxSize`, since `max` would allocate the whole table at once, and a process has a
 * few of these per stream.
 */
export function boundedMap<K extends {}, V extends {}>(most: number, forMs = 0): LRUCache<K, V> {
  return new LRUCache({ maxSize: most, sizeCalculation: () => 1, ttl: forMs })
}
