import { decodeBase64 } from 'ethers'
import { LRUCache } from 'lru-cache'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Inbound } from './inbound.ts'
import { type NativeMessage, readMessage, toTransfer } from './message.ts'
import type { Routes } from './routes.ts'
import type { ReadableRoute } from './verify.ts'

/** A route that ends at this chain, with what its target contract lets in. */
export interface ServedRoute extends ReadableRoute {
  readonly inbound: Inbound
}

/** A transfer's message, decoded, with where it goes. */
export interface Open {
  readonly message: NativeMessage
  readonly route: ServedRoute
}

export type OpenTransfer = ReturnType<typeof createOpen>

/** Messages of the steps that are under way; 224 bytes each. */
const mostKept = 4_096

/**
 * Decodes a message once while it is among the newest, and for each transfer that is kept: the gate watcher asks for all that wait, block after block. `open` throws
 * NATIVE_MESSAGE, NATIVE_ID_MISMATCH, NATIVE_ROUTE_UNKNOWN.
 */
export function createOpen(routes: Routes<ServedRoute>) {
  const known = new WeakMap<Transfer, Open>()
  const decoded = new LRUCache<string, Open>({
    max: mostKept,
    memoMethod(text) {
      const message = readMessage(decodeBase64(text))
      return { message, route: routes.of(message) }
    },
  })
  return function open(transfer: Transfer): Open {
    const before = known.get(transfer)
    if (before) return before
    const opened = decoded.memo(transfer.message)
    known.set(transfer, opened)
    return opened
  }
}

const fields = ['bridge', 'sourceChain', 'sourceId', 'targetChain', 'emitter', 'sequence', 'digest'] as const

/** Throws MESSAGE_MISMATCH if the message is of another transfer. */
export function checkSame(transfer: Transfer, { message, route }: Open): void {
  const expected = toTransfer(route, message)
  const { sourceId = expected.sourceId } = transfer
  const field = fields.find((name) => ({ ...transfer, sourceId })[name] !== expected[name])
  if (field === undefined) return
  throw new RelayerError('MESSAGE_MISMATCH', { facts: { field, transfer: transfer[field], message: expected[field] } })
}

/** Throws AMOUNT_TOO_SMALL. */
export function checkAmount({ message: { amount, nonce }, route: { minimumAmount = '0' } }: Open): void {
  if (amount >= BigInt(minimumAmount)) return
  throw new RelayerError('AMOUNT_TOO_SMALL', { facts: { nonce: String(nonce), amount: String(amount), minimum: minimumAmount } })
}
