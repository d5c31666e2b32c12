import { LRUCache } from 'lru-cache'

/**
 * A map of at most `most` entries. Each entry is kept for `forMs` (0: for ever). With `sizeOf`, `most` limits the sum
 * of the sizes. LRUCache's own `max` is not used, because it allocates the whole table at once.
 */
export function boundedMap<K extends {}, V extends {}>(most: number, forMs = 0, sizeOf: (value: V) => number = () => 1): LRUCache<K, V> {
  return new LRUCache({ maxSize: most, sizeCalculation: sizeOf, ttl: forMs })
}
