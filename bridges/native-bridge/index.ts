import { createBridge, type Served } from '../kit/bridge.ts'
import type { Bridge } from '../port.ts'
import { type NativeRoute, nativeBridge, readMessage, toTransfer } from './message.ts'
import { createRoutes } from './routes.ts'

/** `routes` are all of the config, also to chains that this process is not connected to. Throws CONFIG_INVALID if two start or end at the same contract. */
export function createNativeBridge({ routes: given, endpoints, sources }: Served & { readonly routes: readonly NativeRoute[] }): Bridge {
  const routes = createRoutes(given)
  const decode = (bytes: Uint8Array) => {
    const message = readMessage(bytes)
    return toTransfer(routes.of(message), message)
  }
  return createBridge({ name: nativeBridge, decode, endpoints, sources })
}
