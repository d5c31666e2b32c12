import { LRUCache } from 'lru-cache'

/**
 * A map of at most `most` entries, kept for `forMs` (0: for ever). With `sizeOf`, `most` bounds the sum of sizes.
 * LRUCache's `max` would allocate the whole table.
 */
export function boundedMap<K extends {}, V extends {}>(most: number, forMs = 0, sizeOf: (value: V) => number = () => 1): LRUCache<K, V> {
  return new LRUCache({ maxSize: most, sizeCalculation: sizeOf, ttl: forMs })
}
