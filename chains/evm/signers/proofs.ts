import { fingerprint } from '../../../crypto/fingerprint.ts'
import type { Intent } from '../../../domain/intent.ts'

/** Several times what all lanes of a process have in flight. */
const mostProved = 4_096

/** What proves a call may end: a guardian set expires, a chain is replaced. The wait for a nonce is shorter. */
const rememberMs = 10 * 60_000

/**
 * Remembers the calls that were proved, for ten minutes, and for a nonce that was signed with one as long as there is room: a raise of its fee signs the same call
 * again, and the first signature may be in a pool by then. What is not proved, or could not be read, is asked again. Throws what `justify` throws.
 */
export function rememberProofs(justify: (call: Intent) => Promise<void>, clock: () => number) {
  /** By call, oldest first. */
  const proved = new Map<string, { readonly at: number; readonly nonces: Set<number> }>()
  return async (call: Intent, nonce: number | undefined): Promise<void> => {
    const key = fingerprint(`${call.to}|${call.value}|${call.data}`.toLowerCase())
    const before = proved.get(key)
    const isNew = before !== undefined && Math.abs(clock() - before.at) < rememberMs
    const isSigned = nonce !== undefined && before?.nonces.has(nonce)
    if (!isNew && !isSigned) {
      await justify(call)
      for (const oldest of proved.keys()) {
        if (proved.size < mostProved) break
        proved.delete(oldest)
      }
      proved.delete(key)
      proved.set(key, { at: clock(), nonces: new Set(before?.nonces) })
    }
    if (nonce !== undefined) proved.get(key)?.nonces.add(nonce)
  }
}
