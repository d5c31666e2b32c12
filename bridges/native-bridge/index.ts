import type { ChainName } from '../../domain/transfer/transfer.ts'
import { endpointIn } from '../common/bridge.ts'
import type { Bridge, Endpoint } from '../port.ts'
import type { Source } from '../source-port.ts'
import { type NativeRoute, nativeBridge } from './message.ts'
import { createDecode, createRoutes } from './routes.ts'

export interface NativeBridgeOptions {
  /** Every route of the config, also those to chains that this process is not connected to. */
  readonly routes: readonly NativeRoute[]
  /** On the chains that this process is connected to; the sources of their routes are connected too. */
  readonly endpoints: ReadonlyMap<ChainName, Endpoint>
  readonly sources: readonly Source[]
}

/** Throws CONFIG_INVALID if two routes start or end at the same contract. */
export function createNativeBridge({ routes, endpoints, sources }: NativeBridgeOptions): Bridge {
  return {
    name: nativeBridge,
    decode: createDecode(createRoutes(routes)),
    sources,
    endpoint: endpointIn(endpoints),
  }
}
