import { LRUCache } from 'lru-cache'
import type { Intent } from '../../../domain/intent.ts'
import { fingerprint } from '../../crypto/fingerprint.ts'

const mostProved = 4_096

/** A proof may become void: a guardian set expires, a chain is replaced. */
const rememberMs = 10 * 60_000

/** Remembers proved calls for ten minutes, and longer for signed nonces: a fee raise signs the same call again. */
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
    /** Calls that needed no proof are not remembered. */
    signed(call: Intent, nonce: number): void {
      proved.get(keyOf(call))?.nonces.add(nonce)
    },
  }
}

function keyOf({ to, value, data }: Intent): string {
  return fingerprint(`${to}|${value}|${data}`.toLowerCase())
}
