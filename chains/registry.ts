import type { ChainConfig } from '../config/schema/schema.ts'
import type { ChainName } from '../domain/transfer/transfer.ts'
import { createEvmChain, createMessageSigner, createSignedNonces, createSigner } from './evm/index.ts'
import type { Chain } from './port.ts'
import type { Signer, SigningPolicy } from './signing-port.ts'

interface Family {
  readonly createChain: (options: never) => Chain
  readonly createSigner: (spec: never, address?: string, policy?: SigningPolicy) => Promise<Signer>
  /** Reads the nonces that signers with this spending folder have recorded, without a key. */
  readonly createSignedNonces: (spendingFolder: string) => (limit: number) => Promise<number | undefined>
}

export const chainFamilies = {
  evm: { createChain: createEvmChain, createSigner, createSignedNonces },
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
