import { keccak256 } from 'ethers'

/** Ten of the fullest streams. */
const mostRemembered = 4_096

export type GoodMessages = ReturnType<typeof createGoodMessages>

/** Messages found good lately are not checked again in later steps. After `rememberMs` they are: the source chain may have been replaced. `clock`: for tests. */
export function createGoodMessages({ rememberMs = 60_000, clock = () => performance.now() } = {}) {
  /** Hash of the message → when it was found good, oldest first. */
  const good = new Map<string, number>()
  return {
    has(message: Uint8Array): boolean {
      const at = good.get(keccak256(message))
      return at !== undefined && clock() - at < rememberMs
    },
    add(message: Uint8Array): void {
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
