import type { SignedMessages } from '../../bridges/kit/emitter-sources.ts'
import type { ContractReader } from '../../bridges/kit/contract-reader.ts'
import { isCompleted } from '../../bridges/wormhole-token-bridge/contracts.ts'
import { createDecode, wormholeTokenBridge } from '../../bridges/wormhole-token-bridge/message.ts'

type Targets = ReadonlyMap<string, { readonly chain: ContractReader; readonly tokenBridge: string }>

/** Options of an emitter's source whose messages belong to the token bridge alone. */
export function ofTokenBridge(chainNames: ReadonlyMap<number, string> = new Map(), targets: Targets = new Map()) {
  const messages: SignedMessages = {
    decode: createDecode(chainNames),
    async isDelivered({ targetChain, digest }, at) {
      const target = targets.get(targetChain)
      return target !== undefined && isCompleted(target.chain, target.tokenBridge, digest, at)
    },
  }
  return { messages, bridge: wormholeTokenBridge, owners: [wormholeTokenBridge], prefix: wormholeTokenBridge, judges: [...targets.keys()] }
}
