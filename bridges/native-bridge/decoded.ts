import { decodeBase64 } from 'ethers'
import { LRUCache } from 'lru-cache'
import type { At, Receipt } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { ContractReader } from '../kit/contract-reader.ts'
import { isLogOf } from '../kit/logs.ts'
import { readInboundNonce } from './contracts.ts'
import { completionLog, isCompleted } from './events.ts'
import type { Inbound } from './inbound.ts'
import { type NativeMessage, readMessage, toTransfer } from './message.ts'
import type { Routes } from './routes.ts'
import type { ReadableRoute } from './verify.ts'

/** A route that ends at this chain. */
export interface ServedRoute extends ReadableRoute {
  readonly inbound: Inbound
}

export interface DecodedTransfer {
  readonly message: NativeMessage
  readonly route: ServedRoute
}

/** Throws NATIVE_MESSAGE, NATIVE_ID_MISMATCH, NATIVE_ROUTE_UNKNOWN. */
export type DecodeTransfer = (transfer: Transfer) => DecodedTransfer

const mostDecoded = 4_096

/** Decodes once per message and object: the gate watcher asks at every block. */
export function createDecoder(routes: Routes<ServedRoute>): DecodeTransfer {
  const known = new WeakMap<Transfer, DecodedTransfer>()
  const decoded = new LRUCache<string, DecodedTransfer>({
    max: mostDecoded,
    memoMethod(text) {
      const message = readMessage(decodeBase64(text))
      return { message, route: routes.of(message) }
    },
  })
  return (transfer) => {
    const found = known.get(transfer) ?? decoded.memo(transfer.message)
    known.set(transfer, found)
    return found
  }
}

const fields = ['bridge', 'sourceChain', 'sourceId', 'targetChain', 'emitter', 'sequence', 'digest'] as const

/** Throws MESSAGE_MISMATCH if the message is of another transfer. */
export function checkSame(transfer: Transfer, { message, route }: DecodedTransfer): void {
  const expected = toTransfer(route, message)
  const field = fields.find((name) => transfer[name] !== expected[name])
  if (field === undefined) return
  throw new RelayerError('MESSAGE_MISMATCH', { facts: { field, transfer: transfer[field], message: expected[field] } })
}

/** Throws AMOUNT_TOO_SMALL. */
export function checkAmount({ message: { amount, nonce }, route: { minimumAmount = '0' } }: DecodedTransfer): void {
  if (amount >= BigInt(minimumAmount)) return
  throw new RelayerError('AMOUNT_TOO_SMALL', { facts: { nonce: String(nonce), amount: String(amount), minimum: minimumAmount } })
}

const quorumOf: Partial<Record<At, At>> = { latest: 'agreed-latest', finalized: 'agreed' }

/** See `Endpoint.delivered`. Confirms an id completed under another nonce. Throws as `isCompleted`, NODES_DISAGREE. */
export function createDelivered(chain: ContractReader, decode: DecodeTransfer) {
  return async function delivered(transfer: Transfer, at: At): Promise<boolean> {
    const { message, route } = decode(transfer)
    const nonceAt = (state: At) => readInboundNonce(chain, route.targetBridge, message.id, state)
    const first = await nonceAt(at)
    const quorum = quorumOf[at]
    const isDoubtful = first !== 0n && first !== message.nonce && quorum
    return isCompleted(chain.name, message, isDoubtful ? await nonceAt(quorum) : first)
  }
}

export function hasCompletion({ status, block, hash: transactionHash, logs }: Receipt, { message, route }: DecodedTransfer): boolean {
  const wanted = completionLog(route.targetBridge, message)
  return status === 'success' && logs.some((log) => isLogOf(wanted)(log) && wanted.shows({ ...log, block, transactionHash }))
}
