import { LRUCache } from 'lru-cache'

/** A map of `most` entries, each kept for `forMs` (0: for ever). The option `max` would allocate the whole table. */
export function boundedMap<K extends {}, V extends {}>(most: number, forMs = 0): LRUCache<K, V> {
  return new LRUCache({ maxSize: most, sizeCalculation: () => 1, ttl: forMs })
}
