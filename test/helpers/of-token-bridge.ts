import type { SignedMessages } from '../../bridges/kit/emitter-sources.ts'
import type { ContractReader } from '../../bridges/kit/contract-reader.ts'
import { allShow } from '../../bridges/kit/views.ts'
import { wormholeTokenBridge } from '../../bridges/wormhole-token-bridge/token-bridge.ts'
import { tokenBridgeMessages } from '../../lab/devnet/wormhole/token-bridge-messages.ts'

type Targets = ReadonlyMap<string, { readonly chain: ContractReader; readonly tokenBridge: string }>

/** Options of an emitter's source whose messages all belong to the token bridge. */
export function ofTokenBridge(chainNames: ReadonlyMap<number, string> = new Map(), targets: Targets = new Map()) {
  const { product, messages: own, decode } = tokenBridgeMessages(chainNames, Object.fromEntries(targets))
  const messages: SignedMessages = {
    decode,
    decodePublished: decode,
    async isDelivered({ targetChain, message }, at) {
      const target = targets.get(targetChain)
      return target !== undefined && allShow(target.chain, product.delivered(own.read(message).message), at)
    },
  }
  return { messages, bridge: wormholeTokenBridge, owners: [wormholeTokenBridge], prefix: wormholeTokenBridge, judges: [...targets.keys()] }
}
