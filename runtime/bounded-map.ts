import { LRUCache } from 'lru-cache'

/** At most `most` entries or, with `sizeOf`, total size. `forMs` 0: no expiry. LRUCache's `max` would allocate all. */
export function boundedMap<K extends {}, V extends {}>(most: number, forMs = 0, sizeOf: (value: V) => number = () => 1): LRUCache<K, V> {
  return new LRUCache({ maxSize: most, sizeCalculation: sizeOf, ttl: forMs })
}
