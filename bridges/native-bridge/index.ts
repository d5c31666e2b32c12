import { endpointIn, type Served } from '../common/bridge.ts'
import type { Bridge } from '../port.ts'
import { type NativeRoute, nativeBridge, readMessage, toTransfer } from './message.ts'
import { createRoutes } from './routes.ts'

/**
 * Throws CONFIG_INVALID if two routes start or end at the same contract.
 * @param options `routes`: every one of the config, also those to chains that this process is not connected to
 */
export function createNativeBridge({ routes: given, endpoints, sources }: Served & { readonly routes: readonly NativeRoute[] }): Bridge {
  const routes = createRoutes(given)
  return {
    name: nativeBridge,
    decode(bytes) {
      const message = readMessage(bytes)
      return toTransfer(routes.of(message), message)
    },
    sources,
    endpoint: endpointIn(endpoints),
  }
}
