import { decodeBase64 } from 'ethers'
import { LRUCache } from 'lru-cache'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { createBridge, type Served } from '../kit/bridge.ts'
import type { Bridge } from '../port.ts'
import type { Inbound } from './inbound.ts'
import { type NativeMessage, type NativeRoute, nativeBridge, readMessage, toTransfer } from './message.ts'
import type { ReadableRoute } from './verify.ts'

export type Routes<Route extends NativeRoute> = ReturnType<typeof createRoutes<Route>>

/**
 * Throws CONFIG_INVALID if two routes start or end at the same contract: ids name no chain, so a contract with two
 * sources would take equal transfers for copies.
 */
export function createRoutes<Route extends NativeRoute>(routes: readonly Route[]) {
  const all = routes.map((route) => ({
    ...route,
    sourceBridge: route.sourceBridge.toLowerCase(),
    targetBridge: route.targetBridge.toLowerCase(),
  }))
  const bySource = unique(all, ({ sourceNetworkId, sourceBridge }) => `${sourceNetworkId}/${sourceBridge}`, 'start')
  unique(all, ({ targetChain, targetBridge }) => `${targetChain}/${targetBridge}`, 'end')
  return {
    all,
    /** The route of a message. Throws NATIVE_ROUTE_UNKNOWN. */
    of({ sourceNetworkId, sourceBridge }: Pick<NativeMessage, 'sourceNetworkId' | 'sourceBridge'>): Route {
      const route = bySource.get(`${sourceNetworkId}/${sourceBridge}`)
      if (route) return route
      throw new RelayerError('NATIVE_ROUTE_UNKNOWN', { facts: { sourceNetworkId: String(sourceNetworkId), sourceBridge } })
    },
  }
}

function unique<Route extends NativeRoute>(
  routes: readonly Route[],
  key: (route: Route) => string,
  where: string,
): ReadonlyMap<string, Route> {
  const found = new Map(routes.map((route) => [key(route), route]))
  const other = routes.find((route) => found.get(key(route)) !== route)
  if (other) throw new RelayerError('CONFIG_INVALID', { detail: `Two routes of the native bridge ${where} at ${key(other)}.` })
  return found
}

/** `routes`: all of the config, also to chains that this process does not serve. Throws CONFIG_INVALID as `createRoutes`. */
export function createNativeBridge({ routes: given, endpoints, sources }: Served & { readonly routes: readonly NativeRoute[] }): Bridge {
  const routes = createRoutes(given)
  const decode = (bytes: Uint8Array) => {
    const message = readMessage(bytes)
    return toTransfer(routes.of(message), message)
  }
  return createBridge({ name: nativeBridge, decode, endpoints, sources })
}

/** A route that ends at this chain, with the limits of its target contract. */
export interface ServedRoute extends ReadableRoute {
  readonly inbound: Inbound
}

/** A transfer's message and its route. */
export interface DecodedTransfer {
  readonly message: NativeMessage
  readonly route: ServedRoute
}

/** Throws NATIVE_MESSAGE, NATIVE_ID_MISMATCH, NATIVE_ROUTE_UNKNOWN. */
export type DecodeTransfer = (transfer: Transfer) => DecodedTransfer

/** Messages of 224 bytes, of steps that are under way. */
const mostDecoded = 4_096

/** Decodes each recent message once, and once per transfer object: the gate watcher asks for waiting ones at every block. */
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
  const { sourceId = expected.sourceId } = transfer
  const field = fields.find((name) => ({ ...transfer, sourceId })[name] !== expected[name])
  if (field === undefined) return
  throw new RelayerError('MESSAGE_MISMATCH', { facts: { field, transfer: transfer[field], message: expected[field] } })
}

/** Throws AMOUNT_TOO_SMALL. */
export function checkAmount({ message: { amount, nonce }, route: { minimumAmount = '0' } }: DecodedTransfer): void {
  if (amount >= BigInt(minimumAmount)) return
  throw new RelayerError('AMOUNT_TOO_SMALL', { facts: { nonce: String(nonce), amount: String(amount), minimum: minimumAmount } })
}
