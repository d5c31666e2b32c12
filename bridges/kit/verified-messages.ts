import { LRUCache } from 'lru-cache'
import { fingerprint } from '../../chains/crypto/fingerprint.ts'

const mostRemembered = 4_096

export type VerifiedMessages = ReturnType<typeof createVerifiedMessages>

export function createVerifiedMessages({
  rememberMs = 60_000,
  clock = () => performance.now(),
}: { readonly rememberMs?: number; readonly clock?: (() => number) | undefined } = {}) {
  const verified = new LRUCache<string, string>({ max: mostRemembered, ttl: rememberMs, ttlResolution: 0, perf: { now: clock } })
  return {
    add: (message: Uint8Array): void => void verified.set(fingerprint(message), ''),
    /** Runs `check` unless it has lately succeeded for the same message and `under`. Throws the errors of `check`. */
    async once(message: Uint8Array, under: string, check: () => unknown): Promise<void> {
      const key = fingerprint(message)
      if (verified.get(key) === under) return
      await check()
      verified.set(key, under)
    },
  }
}
