import { keccak256 } from 'ethers'

/** Messages that were found good lately, so that each is checked once: at submission, or by its stream, and not again in later steps. */
export interface GoodMessages {
  has(message: Uint8Array): boolean
  add(message: Uint8Array): void
}

export interface GoodMessagesOptions {
  /** How long a message is remembered, ms. Default 60 s: what the source's table confirmed must not outlive a replaced source chain. */
  readonly rememberMs?: number
  /** ms since any moment; for tests. */
  readonly clock?: () => number
}

/** Ten of the fullest streams. */
const mostRemembered = 4_096

export function createGoodMessages({ rememberMs = 60_000, clock = () => performance.now() }: GoodMessagesOptions = {}): GoodMessages {
  /** Hash of the message → when it was found good, oldest first. */
  const good = new Map<string, number>()
  return {
    has(message) {
      const at = good.get(keccak256(message))
      return at !== undefined && clock() - at < rememberMs
    },
    add(message) {
      const key = keccak256(message)
      good.delete(key)
      for (const oldest of good.keys()) {
        if (good.size < mostRemembered) break
        good.delete(oldest)
      }
      good.set(key, clock())
    },
  }
}
