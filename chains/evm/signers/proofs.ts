import { fingerprint } from '../../../crypto/fingerprint.ts'
import type { Intent } from '../../../domain/intent.ts'

/** Several times what all lanes of a process have in flight. */
const mostProved = 4_096

/**
 * Remembers the calls that were proved: a raise of the fee signs the same call again, and the first signature may be in a pool by then. What is not proved, or could
 * not be read, is asked again. Throws what `justify` throws.
 */
export function rememberProofs(justify: (call: Intent) => Promise<void>): (call: Intent) => Promise<void> {
  const proved = new Set<string>()
  return async (call) => {
    const key = fingerprint(`${call.to}|${call.value}|${call.data}`.toLowerCase())
    if (proved.has(key)) return
    await justify(call)
    for (const oldest of proved) {
      if (proved.size < mostProved) break
      proved.delete(oldest)
    }
    proved.add(key)
  }
}
