import { LRUCache } from 'lru-cache'

/**
 * A map of at most `most` entries. With `sizeOf`, `most` limits the sum of the entries' sizes instead. With `forMs` 0,
 * entries do not expire. LRUCache's `max` would allocate the memory for all entries.
 */
export function boundedMap<K extends {}, V extends {}>(most: number, forMs = 0, sizeOf: (value: V) => number = () => 1): LRUCache<K, V> {
  return new LRUCache({ maxSize: most, sizeCalculation: sizeOf, ttl: forMs })
}
