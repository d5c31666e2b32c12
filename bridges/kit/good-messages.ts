import { fingerprint } from '../../chains/crypto/fingerprint.ts'

/** Ten of the fullest streams. */
const mostRemembered = 4_096

export type GoodMessages = ReturnType<typeof createGoodMessages>

/**
 * Messages found good lately, exactly these bytes, are not checked again in later steps. After `rememberMs` they are: the source chain may have been replaced.
 * `under`: what the verdict rests on beside the bytes; under anything else it does not count. `clock`: for tests.
 */
export function createGoodMessages({ rememberMs = 60_000, clock = () => performance.now() } = {}) {
  /** Fingerprint of the message → when, and under what, it was found good; oldest first. */
  const good = new Map<string, { readonly at: number; readonly under: string }>()
  return {
    has(message: Uint8Array, under = ''): boolean {
      const found = good.get(fingerprint(message))
      return found !== undefined && found.under === under && clock() - found.at < rememberMs
    },
    add(message: Uint8Array, under = ''): void {
      const key = fingerprint(message)
      good.delete(key)
      for (const oldest of good.keys()) {
        if (good.size < mostRemembered) break
        good.delete(oldest)
      }
      good.set(key, { at: clock(), under })
    },
  }
}
