import { LRUCache } from 'lru-cache'

/** A map of at most `most` entries, kept for `forMs` (0: for ever). LRUCache's `max` would allocate the whole table. */
export function boundedMap<K extends {}, V extends {}>(most: number, forMs = 0): LRUCache<K, V> {
  return new LRUCache({ maxSize: most, sizeCalculation: () => 1, ttl: forMs })
}
