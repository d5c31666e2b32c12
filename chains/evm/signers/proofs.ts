import { fingerprint } from '../../crypto/fingerprint.ts'
import type { Intent } from '../../../domain/intent.ts'

/** Several times what all lanes of a process have in flight. */
const mostProved = 4_096

/** What proves a call may end: a guardian set expires, a chain is replaced. The wait for a nonce is shorter. */
const rememberMs = 10 * 60_000

/**
 * Remembers the calls that were proved, for ten minutes, and for a nonce that was signed with one as long as there is room: a raise of its fee signs the same call
 * again, and the first signature may be in a pool by then. What is not proved, or could not be read, is asked again.
 */
export function rememberProofs(justify: (call: Intent) => Promise<void>, clock: () => number) {
  /** By call, oldest first. */
  const proved = new Map<string, { readonly at: number; readonly nonces: Set<number> }>()
  return {
    /** Throws what `justify` throws. */
    async prove(call: Intent, nonce: number | undefined): Promise<void> {
      const key = keyOf(call)
      const before = proved.get(key)
      const isNew = before !== undefined && Math.abs(clock() - before.at) < rememberMs
      const isSigned = nonce !== undefined && before?.nonces.has(nonce)
      if (isNew || isSigned) return
      await justify(call)
      for (const oldest of proved.keys()) {
        if (proved.size < mostProved) break
        proved.delete(oldest)
      }
      const nonces = new Set(proved.get(key)?.nonces ?? before?.nonces)
      proved.delete(key)
      proved.set(key, { at: clock(), nonces })
    },
    /** The key has signed the call for this nonce. What was never proved (no delivery) is not remembered. */
    signed(call: Intent, nonce: number): void {
      proved.get(keyOf(call))?.nonces.add(nonce)
    },
  }
}

function keyOf({ to, value, data }: Intent): string {
  return fingerprint(`${to}|${value}|${data}`.toLowerCase())
}
