import { fingerprint } from '../../chains/crypto/fingerprint.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import { boundedMap } from '../../runtime/bounded-map.ts'
import type { ExecutorMessage } from './message.ts'

export interface PlannedCall {
  /** Wei, decimal. */
  readonly coins: string
  readonly message: ExecutorMessage
  /** Size of the encoded message, bytes. */
  readonly size: number
  readonly stage: string | undefined
  readonly request: string
  /** Gas that the request claims to pay for. */
  readonly gasLimit: bigint
  /** Whether the request no longer pays for the coins of the call, because its quote has expired. */
  readonly isLate: () => boolean
}

const keyOf = ({ to, value, data }: Intent) => fingerprint(`${to}/${value}/${data}`.toLowerCase())

/**
 * Maximum number of hints per call, because several requests may have the same call. Late requests, and requests with
 * low gas limits, cannot push out other requests.
 */
const mostPerCall = 8
/** Maximum size of the messages in the hints, bytes. Anyone with access to Temporal can make hints of 200 KB. */
const mostBytes = 64 * 1_048_576
/** Approximate memory of a hint without its message, bytes. */
const bytesOfHint = 2_048

/**
 * Remembers planned calls, so that `proveCall` finds the request of a call. A hint is not trusted: `proveCall` checks
 * the request on its source chain.
 */
export function createHints() {
  /**
   * Hash of `to/value/data` → hints, in the order when the last one was added: readable hints before unread ones, in
   * each group those in time before late ones, then higher gas limits first.
   */
  const hints = boundedMap<string, readonly PlannedCall[]>(mostBytes, 0, (kept) =>
    kept.reduce((sum, { size }) => sum + bytesOfHint + size, 0),
  )
  /**
   * Hints whose last proof failed with a read error. A hint may name an invented place, which never becomes readable.
   */
  const unread = new WeakSet<PlannedCall>()
  const of = (intent: Intent) => hints.get(keyOf(intent)) ?? []
  const isUnproved = (error: unknown) => toRelayerError(error).code === 'CALL_UNJUSTIFIED'

  function drop(intent: Intent, hint: PlannedCall): void {
    const rest = of(intent).filter((one) => one !== hint)
    if (rest.length > 0) hints.set(keyOf(intent), rest)
    else hints.delete(keyOf(intent))
  }

  async function read<T>(intent: Intent, hint: PlannedCall, prove: (hint: PlannedCall) => Promise<T>): Promise<T> {
    try {
      const proved = await prove(hint)
      unread.delete(hint)
      return proved
    } catch (error) {
      if (isUnproved(error)) drop(intent, hint)
      else unread.add(hint)
      throw error
    }
  }

  return {
    add(intent: Intent, hint: PlannedCall): void {
      const others = of(intent).filter(({ request }) => request !== hint.request)
      const known = [hint, ...others].map((one) => ({ one, rank: 2 * Number(unread.has(one)) + Number(one.isLate()) }))
      const ordered = known.toSorted((a, b) => a.rank - b.rank || Number(b.one.gasLimit - a.one.gasLimit)).map(({ one }) => one)
      hints.set(keyOf(intent), ordered.slice(0, mostPerCall))
    },
    /**
     * Returns the answer of `allow` for the first hint that is proved and allowed. Drops hints whose proof fails with
     * CALL_UNJUSTIFIED. Undefined without hints. If no hint is proved and allowed, throws the first read error or,
     * without read errors, CALL_UNJUSTIFIED.
     */
    async prove<P, T>(
      intent: Intent,
      prove: (hint: PlannedCall) => Promise<P>,
      allow: (hint: PlannedCall, proved: P) => Promise<T>,
    ): Promise<T | undefined> {
      const errors: unknown[] = []
      for (const hint of of(intent)) {
        try {
          return await allow(hint, await read(intent, hint, prove))
        } catch (error) {
          errors.push(error)
        }
      }
      if (errors.length === 0) return undefined
      throw errors.find((error) => !isUnproved(error)) ?? errors[0]
    },
  }
}
