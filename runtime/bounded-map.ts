import { LRUCache } from 'lru-cache'

/** `most` limits the sum of `sizeOf`. `forMs` 0: no expiry. LRUCache's `max` would allocate memory for all entries. */
export function boundedMap<K extends {}, V extends {}>(most: number, forMs = 0, sizeOf: (value: V) => number = () => 1): LRUCache<K, V> {
  return new LRUCache({ maxSize: most, sizeCalculation: sizeOf, ttl: forMs })
}
