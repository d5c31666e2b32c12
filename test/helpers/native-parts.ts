import { createDecode, nativeBridge, type NativeRoute } from '../../bridges/native-bridge/message.ts'
import type { Bridge } from '../../bridges/port.ts'

interface Parts extends Pick<Bridge, 'endpoints' | 'sources'> {
  readonly routes: readonly NativeRoute[]
}

/** The native bridge as the registry makes it of a config. */
export function createNativeBridge({ routes, endpoints, sources }: Parts): Bridge {
  return { name: nativeBridge, decode: createDecode(routes), endpoints, sources }
}
