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

/** Quotes need an EVM key, because its address is the provider's name on all chains of the Executor. */
export const createQuoteSigner = createMessageSigner

export type ConfiguredChainOptions = Partial<
  Pick<Parameters<(typeof chainFamilies)[ChainConfig['family']]['createChain']>[0], 'nodes' | 'timeoutMs' | 'environment'>
>

/** Creates a chain that is not connected yet. The caller must close the chain. */
export function createConfiguredChain(name: ChainName, chain: ChainConfig, options: ConfiguredChainOptions = {}) {
  const { family, networkId, nodes, finality, blockTimeMs } = chain
  return chainFamilies[family].createChain({ name, networkId, nodes, finality, blockTimeMs, ...options })
}

export type ConfiguredChain = ReturnType<typeof createConfiguredChain>
