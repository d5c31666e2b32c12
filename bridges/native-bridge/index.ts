import { endpointIn, type Served } from '../common/bridge.ts'
import type { Bridge } from '../port.ts'
import { type NativeRoute, nativeBridge, readMessage, toTransfer } from './message.ts'
import { createRoutes } from './routes.ts'

export interface NativeBridgeOptions extends Served {
  /** Every route of the config, also those to chains that this process is not connected to. */
  readonly routes: readonly NativeRoute[]
}

/** Throws CONFIG_INVALID if two routes start or end at the same contract. */
export function createNativeBridge({ routes: given, endpoints, sources }: NativeBridgeOptions): Bridge {
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
