import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { ContractReader } from '../kit/contract-reader.ts'
import type { Refusals } from '../kit/verdict.ts'
import { readOutbound } from './contracts.ts'
import { createVerifiedMessages, type VerifiedMessages } from '../kit/verified-messages.ts'
import { type NativeMessage, type NativeRoute, readMessage, toTransfer } from './message.ts'
import type { Bridge } from '../port.ts'

export interface ReadableRoute extends NativeRoute {
  readonly source: ContractReader
  /** Maximum number of completions in one transaction. Absent: no batches. */
  readonly batch?: number | undefined
  /** Smaller amounts are declined, decimal. Absent: 0. */
  readonly minimumAmount?: string | undefined
}

/**
 * Checks unsigned messages against the source contract's finalized table, by more than half of the nodes. Throws
 * NATIVE_MESSAGE, NATIVE_ID_MISMATCH, NATIVE_ROUTE_UNKNOWN, NATIVE_TABLE_MISMATCH, NATIVE_NOT_FINAL (wait). A mismatch
 * halts a route only if a stream itself read the message from the source.
 */
export function createVerifier(routes: Pick<Routes<ReadableRoute>, 'of'>, verified: VerifiedMessages = createVerifiedMessages()) {
  return async function verify(bytes: Uint8Array): Promise<void> {
    const message = readMessage(bytes)
    const route = routes.of(message)
    await verified.once(bytes, '', () => checkTable(message, route))
  }
}

async function checkTable(message: NativeMessage, { source, sourceBridge }: ReadableRoute): Promise<void> {
  const { id, initiator, recipient, amount, nonce } = message
  const recorded = await readOutbound(source, sourceBridge, nonce, 'agreed')
  const facts = { chain: source.name, nonce: String(nonce), id }
  if (!recorded) throw new RelayerError('NATIVE_NOT_FINAL', { facts })
  const same = recorded.id === id && recorded.initiator === initiator && recorded.recipient === recipient && recorded.amount === amount
  if (!same) throw new RelayerError('NATIVE_TABLE_MISMATCH', { facts: { ...facts, recorded: recorded.id } })
}

/** Anyone can submit a message, so none of these refusals halts a route. */
export const refusals: Refusals = {
  MESSAGE_MISMATCH: { kind: 'rejected' },
  NATIVE_MESSAGE: { kind: 'rejected' },
  NATIVE_ID_MISMATCH: { kind: 'rejected' },
  NATIVE_ROUTE_UNKNOWN: { kind: 'rejected' },
  NATIVE_TABLE_MISMATCH: { kind: 'rejected' },
  NATIVE_NOT_FINAL: { kind: 'wait' },
  AMOUNT_TOO_SMALL: { kind: 'declined' },
}

export type Routes<Route extends NativeRoute> = ReturnType<typeof createRoutes<Route>>

/** Throws CONFIG_INVALID if two routes share a contract: ids contain no chain, so their transfers could look equal. */
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
    /** Throws NATIVE_ROUTE_UNKNOWN. */
    of({ sourceNetworkId, sourceBridge }: Pick<NativeMessage, 'sourceNetworkId' | 'sourceBridge'>): Route {
      const route = bySource.get(`${sourceNetworkId}/${sourceBridge}`)
      if (route) return route
      throw new RelayerError('NATIVE_ROUTE_UNKNOWN', { facts: { sourceNetworkId: String(sourceNetworkId), sourceBridge } })
    },
  }
}

function unique<Route extends NativeRoute>(routes: readonly Route[], key: (route: Route) => string, where: string) {
  const found = new Map(routes.map((route) => [key(route), route]))
  const other = routes.find((route) => found.get(key(route)) !== route)
  if (other) throw new RelayerError('CONFIG_INVALID', { detail: `Two routes of the native bridge ${where} at ${key(other)}.` })
  return found
}

/** @param all routes of the config, also to chains not served here. Throws what `createRoutes` throws. */
export function createDecode(all: readonly NativeRoute[]): Bridge['decode'] {
  const routes = createRoutes(all)
  return (bytes) => {
    const message = readMessage(bytes)
    return toTransfer(routes.of(message), message)
  }
}
