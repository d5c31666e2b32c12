import { LRUCache } from 'lru-cache'
import type { Intent } from '../../../domain/intent.ts'
import { fingerprint } from '../../crypto/fingerprint.ts'

/** Several times what all lanes of a process have in flight. */
const mostProved = 4_096

/** A proof may become void: a guardian set expires, a chain is replaced. The wait for a nonce is shorter. */
const rememberMs = 10 * 60_000

/**
 * Remembers proved calls for ten minutes, and longer for nonces that were signed with them: a fee raise signs the same
 * call again while the first signature may be in a pool. Failures are not remembered.
 */
export function rememberProofs(proveCall: (call: Intent) => Promise<void>, clock: () => number) {
  const proved = new LRUCache<string, { readonly at: number; readonly nonces: Set<number> }>({ max: mostProved })
  return {
    /** Throws as `proveCall`. */
    async prove(call: Intent, nonce: number | undefined): Promise<void> {
      const key = keyOf(call)
      const before = proved.get(key)
      const isNew = before !== undefined && Math.abs(clock() - before.at) < rememberMs
      const isSigned = nonce !== undefined && before?.nonces.has(nonce)
      if (isNew || isSigned) return
      await proveCall(call)
      proved.set(key, { at: clock(), nonces: new Set(proved.get(key)?.nonces ?? before?.nonces) })
    },
    /** The key signed the call for this nonce. Calls that needed no proof are not remembered. */
    signed(call: Intent, nonce: number): void {
      proved.get(keyOf(call))?.nonces.add(nonce)
    },
  }
}

function keyOf({ to, value, data }: Intent): string {
  return fingerprint(`${to}|${value}|${data}`.toLowerCase())
}
