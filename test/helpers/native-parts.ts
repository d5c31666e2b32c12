import { nativeBridge, type NativeRoute } from '../../bridges/native-bridge/message.ts'
import { createDecode } from '../../bridges/native-bridge/verify.ts'
import type { Bridge, Endpoint } from '../../bridges/port.ts'
import { createBridge } from '../../bridges/registry.ts'

interface Parts extends Pick<Bridge, 'sources'> {
  readonly routes: readonly NativeRoute[]
  readonly endpoints: ReadonlyMap<string, Endpoint>
}

/** The native bridge as the registry makes it of a config. */
export function createNativeBridge({ routes, endpoints, sources }: Parts): Bridge {
  return createBridge({ name: nativeBridge, decode: createDecode(routes), endpoints, sources })
}
