import { LRUCache } from 'lru-cache'
import { fingerprint } from '../../chains/crypto/fingerprint.ts'

/** Ten of the fullest streams. */
const mostRemembered = 4_096

export type VerifiedMessages = ReturnType<typeof createVerifiedMessages>

/**
 * Remembers messages, by their exact bytes, that were found genuine, so that later steps skip the check. A memory of
 * `rememberMs` ends because the source chain may be replaced; 0: no end. `under`: the state that the verdict depends
 * on; another state voids it. `clock`: for tests.
 */
export function createVerifiedMessages({ rememberMs = 60_000, clock = () => performance.now() } = {}) {
  const verified = new LRUCache<string, string>({ max: mostRemembered, ttl: rememberMs, ttlResolution: 0, perf: { now: clock } })
  return {
    has: (message: Uint8Array, under = ''): boolean => verified.get(fingerprint(message)) === under,
    add: (message: Uint8Array, under = ''): void => void verified.set(fingerprint(message), under),
  }
}
