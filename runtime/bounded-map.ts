import { LRUCache } from 'lru-cache'

/**
 * A map that drops the least recently used entries. `most`: maximum sum of `sizeOf`. `forMs`: lifetime of an entry, or
 * 0 for no limit. LRUCache's `max` would allocate memory for all entries in advance.
 */
export function boundedMap<K extends {}, V extends {}>(most: number, forMs = 0, sizeOf: (value: V) => number = () => 1): LRUCache<K, V> {
  return new LRUCache({ maxSize: most, sizeCalculation: sizeOf, ttl: forMs })
}
