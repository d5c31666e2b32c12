import { toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import { boundedMap } from '../../runtime/bounded-map.ts'
import type { ExecutorMessage } from './message.ts'

export interface PlannedCall {
  /** Wei, decimal. */
  readonly coins: string
  readonly message: ExecutorMessage
  readonly stage: string | undefined
  readonly request: string
  /** Gas that the request claims to pay for. */
  readonly gasLimit: bigint
  /** Whether the quote of the request has expired, so that the coins of the call are no longer paid for. */
  readonly isLate: () => boolean
}

const keyOf = ({ to, value, data }: Intent) => `${to}/${value}/${data}`.toLowerCase()

/** Several requests may have the same call. Late requests, and those with low gas limits, cannot push out others. */
const mostPerCall = 8

/** A hint is not trusted: `proveCall` reads the source chain. */
export function createHints() {
  /** `to/value/data` → hints. Late hints come last. In both groups, higher gas limits come first. */
  const hints = boundedMap<string, readonly PlannedCall[]>(10_000, 0, ({ length }) => length)
  const of = (intent: Intent) => hints.get(keyOf(intent)) ?? []

  return {
    add(intent: Intent, hint: PlannedCall): void {
      const others = of(intent).filter(({ request }) => request !== hint.request)
      const known = [hint, ...others].map((one) => ({ one, late: Number(one.isLate()) }))
      const ordered = known.toSorted((a, b) => a.late - b.late || Number(b.one.gasLimit - a.one.gasLimit)).map(({ one }) => one)
      hints.set(keyOf(intent), ordered.slice(0, mostPerCall))
    },
    /** Undefined without hints. If no hint proves the call, throws the error of a read or else CALL_UNJUSTIFIED. */
    async prove<T>(intent: Intent, prove: (hint: PlannedCall) => Promise<T>): Promise<T | undefined> {
      const errors: unknown[] = []
      for (const hint of of(intent)) {
        try {
          return await prove(hint)
        } catch (error) {
          errors.push(error)
        }
      }
      if (errors.length === 0) return undefined
      throw errors.find((error) => toRelayerError(error).code !== 'CALL_UNJUSTIFIED') ?? errors[0]
    },
  }
}
