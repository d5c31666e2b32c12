import { LRUCache } from 'lru-cache'
import { fingerprint } from '../../chains/crypto/fingerprint.ts'

const mostRemembered = 4_096

export type VerifiedMessages = ReturnType<typeof createVerifiedMessages>

/** Verified messages by exact bytes, for `rememberMs` (0: no limit): sources may change. A new `under` voids one. */
export function createVerifiedMessages({ rememberMs = 60_000, clock = () => performance.now() } = {}) {
  const verified = new LRUCache<string, string>({ max: mostRemembered, ttl: rememberMs, ttlResolution: 0, perf: { now: clock } })
  return {
    has: (message: Uint8Array, under = ''): boolean => verified.get(fingerprint(message)) === under,
    add: (message: Uint8Array, under = ''): void => void verified.set(fingerprint(message), under),
  }
}
