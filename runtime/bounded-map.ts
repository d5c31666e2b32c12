import { LRUCache } from 'lru-cache'

/** Uses LRUCache's `maxSize`, because `max` would allocate the whole table at once. `forMs` 0: without a time limit. */
export function boundedMap<K extends {}, V extends {}>(most: number, forMs = 0): LRUCache<K, V> {
  return new LRUCache({ maxSize: most, sizeCalculation: () => 1, ttl: forMs })
}
