import { LRUCache } from 'lru-cache'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { Proposed, ProvedRoute, SigningPolicy } from '../../signing-port.ts'

const mostHeld = 4_096

/** `final`: value of `finalNonce` before the call was proved, or 0 if no payment was held then. */
export interface Payment {
  readonly id: string
  readonly final: number
}

type Call = Pick<Proposed, 'data' | 'value'>

/** Calls without data are payments to accounts of the config, and need no proof. */
const isPaid = ({ data, value }: Call) => data !== '0x' && BigInt(value) > 0n

/**
 * Signs a paid call for one nonce at a time, because a call signed for two nonces could pay its coins twice. Another
 * nonce needs a new proof, made after the earlier nonce became final: the proof shows whether the transaction with the
 * earlier nonce delivered the message.
 */
export function createPaidCalls({ finalNonce, lane }: Pick<SigningPolicy, 'finalNonce' | 'lane'>) {
  /** Payment → its nonce. `users`: signatures for this nonce that succeeded or are under way. */
  const calls = new LRUCache<string, { readonly nonce: number; users: number }>({ max: mostHeld })

  function demandFree({ id, final }: Payment, nonce: number | undefined): void {
    const held = calls.get(id)?.nonce
    if (held === undefined || held === nonce || held < final) return
    throw new RelayerError('NONCE_NOT_FINAL', { detail: 'The call carries coins.', facts: { lane, nonce: held } })
  }

  return {
    /** Throws NONCE_NOT_FINAL, read errors and the errors of `prove`. */
    async prove(call: Call & Pick<Proposed, 'nonce'>, prove: () => Promise<readonly ProvedRoute[]>): Promise<Payment | undefined> {
      const final = isPaid(call) && calls.size > 0 ? await finalNonce() : 0
      const routes = await prove()
      if (!isPaid(call)) return undefined
      const id = routes.find(({ payment }) => payment !== undefined)?.payment ?? call.data
      demandFree({ id, final }, call.nonce)
      return { id, final }
    },
    /**
     * Binds the payment to the nonce. The payment becomes free again if every attempt to sign for this nonce fails.
     * Throws NONCE_NOT_FINAL.
     */
    async hold<T>(payment: Payment | undefined, nonce: number, sign: () => Promise<T>): Promise<T> {
      if (!payment) return sign()
      demandFree(payment, nonce)
      const { id } = payment
      const before = calls.get(id)
      const held = before?.nonce === nonce ? before : { nonce, users: 0 }
      held.users += 1
      calls.set(id, held)
      try {
        return await sign()
      } catch (error) {
        held.users -= 1
        if (held.users === 0 && calls.get(id) === held) calls.delete(id)
        throw error
      }
    },
  }
}
