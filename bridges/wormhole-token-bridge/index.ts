import type { ChainName } from '../../domain/transfer/transfer.ts'
import { parseVaa } from '../../domain/vaa.ts'
import { endpointIn } from '../common/bridge.ts'
import type { Bridge, Endpoint } from '../port.ts'
import type { Source } from '../source-port.ts'
import { createDecode, wormholeTokenBridge } from './message.ts'

export interface WormholeTokenBridgeOptions {
  /** Wormhole chain id → name, of every chain of the config. */
  readonly chainNames: ReadonlyMap<number, ChainName>
  /** The chains that this process is connected to. */
  readonly endpoints: ReadonlyMap<ChainName, Endpoint>
  readonly sources: readonly Source[]
}

export function createWormholeTokenBridge({ chainNames, endpoints, sources }: WormholeTokenBridgeOptions): Bridge {
  return {
    name: wormholeTokenBridge,
    decode: createDecode(chainNames),
    signedBy: (message) => String(parseVaa(message).guardianSetIndex),
    sources,
    endpoint: endpointIn(endpoints),
  }
}
