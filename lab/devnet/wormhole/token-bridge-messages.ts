import { createPluginDecode, createPluginMessages } from '../../../bridges/kit/plugin-bridge.ts'
import { createTokenBridge, type TokenBridgeOptions, type TokenBridgeTarget } from '../../../bridges/wormhole-token-bridge/token-bridge.ts'

const nowhere = `0x${'0'.repeat(40)}`

/**
 * The token bridge's plug-in, without a chain. `given`: settings by target. The plug-in can make and prove calls for a
 * target only if its settings contain the address of the real contract.
 */
export function tokenBridgeMessages(
  chainNames: ReadonlyMap<number, string>,
  given: Readonly<Record<string, Partial<TokenBridgeTarget>>> = {},
  policy: Omit<TokenBridgeOptions, 'targets'> = {},
) {
  const targets = [...chainNames].map(
    ([wormholeChainId, name]) => [name, { wormholeChainId, tokenBridge: nowhere, ...given[name] }] as const,
  )
  const product = createTokenBridge({ targets: new Map(targets), ...policy })
  const messages = createPluginMessages(product, chainNames)
  return { product, messages, decode: createPluginDecode(product, messages) }
}
