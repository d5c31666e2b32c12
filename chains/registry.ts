import type { ChainConfig } from '../config/schema/schema.ts'
import type { ChainName } from '../domain/transfer/transfer.ts'
import { createEvmChain, createMessageSigner, createSigner } from './evm/index.ts'
import type { Chain } from './port.ts'
import type { Signer, SigningPolicy } from './signing-port.ts'

interface Family {
  readonly createChain: (options: never) => Chain
  readonly createSigner: (spec: never, address?: string, policy?: SigningPolicy) => Promise<Signer>
}

export const chainFamilies = {
  evm: { createChain: createEvmChain, createSigner },
} satisfies Record<ChainConfig['family'], Family>

/** The Executor names providers by keys of this family, also on chains of other families. */
export const createQuoteSigner = createMessageSigner

export type ConfiguredChainOptions = Partial<
  Pick<Parameters<(typeof chainFamilies)[ChainConfig['family']]['createChain']>[0], 'nodes' | 'timeoutMs' | 'environment'>
>

/** A chain of the config, not connected. The caller closes it. */
export function createConfiguredChain(name: ChainName, chain: ChainConfig, options: ConfiguredChainOptions = {}) {
  const { family, networkId, nodes, finality, blockTimeMs } = chain
  return chainFamilies[family].createChain({ name, networkId, nodes, finality, blockTimeMs, ...options })
}

export type ConfiguredChain = ReturnType<typeof createConfiguredChain>
