import type { ChainName } from '../../domain/transfer/transfer.ts'
import { parseVaa } from '../../domain/vaa.ts'
import { endpointIn, type Served } from '../common/bridge.ts'
import type { Bridge } from '../port.ts'
import { createDecode, wormholeTokenBridge } from './message.ts'

/** @param chainNames Wormhole chain id → name, of every chain of the config */
export function createWormholeTokenBridge(chainNames: ReadonlyMap<number, ChainName>, { endpoints, sources }: Served): Bridge {
  return {
    name: wormholeTokenBridge,
    decode: createDecode(chainNames),
    signedBy: (message) => String(parseVaa(message).guardianSetIndex),
    sources,
    endpoint: endpointIn(endpoints),
  }
}
