import { sourcesWithoutNode, sourceTitle } from '../../bridges/registry.ts'
import type { EmitterWithoutNode } from '../../bridges/wormhole-token-bridge/streams.ts'
import { createTokenBridgeReads, unregistered } from '../../bridges/wormhole-token-bridge/contracts.ts'
import type { Config } from '../../config/schema/schema.ts'
import { type ConfiguredChain as Reader, createConfiguredChain } from '../../chains/registry.ts'
import { type Check, checkTimeoutMs, type Finding, look, warn } from './check.ts'

/** Whether each target's token bridge has registered the sources without a node: it rejects others. */
export async function checkSources(config: Config): Promise<Check[]> {
  const sources = sourcesWithoutNode(config)
  if (sources.length === 0) return []
  return Promise.all(
    Object.entries(config.chains).map(async ([name, chain]) => {
      const { contracts } = chain
      const reader = createConfiguredChain(name, chain, { timeoutMs: checkTimeoutMs / 2 })
      try {
        const check = () => reader.connect().then(() => checkRegistered(reader, contracts?.tokenBridge ?? '', sources))
        return await look(`chain ${name}`, 'sources without a node', check)
      } finally {
        reader.close()
      }
    }),
  )
}

export async function checkRegistered(
  reader: Pick<Reader, 'name' | 'call'>,
  tokenBridge: string,
  sources: readonly EmitterWithoutNode[],
): Promise<Finding> {
  const { emitter: registered } = createTokenBridgeReads(reader, tokenBridge)
  const found = await Promise.all(sources.map(async (one) => ({ ...one, registered: await registered(one.emitterChain) })))
  const titles = (some: typeof found) => some.map(({ sourceChain }) => sourceTitle(sourceChain)).join(', ')
  const others = found.filter((one) => one.registered !== one.emitter && one.registered !== unregistered)
  const none = found.filter((one) => one.registered === unregistered)
  const detail = `${found.length - others.length - none.length} of ${found.length} are registered${none.length > 0 ? `; none for ${titles(none)}` : ''}`
  if (others.length === 0) return detail
  const remedy = 'Their transfers are refused here (EMITTER_UNKNOWN): correct everySource or emitters of bridges.wormhole-token-bridge.'
  return warn(`${detail}; another emitter than the config for ${titles(others)}`, remedy)
}
