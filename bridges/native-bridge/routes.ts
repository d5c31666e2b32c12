import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Bridge } from '../port.ts'
import { type NativeMessage, type NativeRoute, readMessage, toTransfer } from './message.ts'

export type Routes<Route extends NativeRoute> = ReturnType<typeof createRoutes<Route>>

/** Throws CONFIG_INVALID if two routes share a contract: ids name no chain, so equal transfers look like copies. */
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

/** @param all routes of the config, also to chains not served here. Throws CONFIG_INVALID as `createRoutes`. */
export function createDecode(all: readonly NativeRoute[]): Bridge['decode'] {
  const routes = createRoutes(all)
  return (bytes) => {
    const message = readMessage(bytes)
    return toTransfer(routes.of(message), message)
  }
}
