import type { ChainConfig } from '../config/schema/schema.ts'
import type { ChainName } from '../domain/transfer/transfer.ts'
import { createEvmChain, createSigner } from './evm/index.ts'
import type { Chain } from './port.ts'
import type { Signer, SigningPolicy } from './signing-port.ts'

/** What every family has to offer: `createChain` connects nothing yet, `createSigner` opens a lane's key. */
interface Family {
  readonly createChain: (options: never) => Chain
  readonly createSigner: (spec: never, address?: string, policy?: SigningPolicy) => Promise<Signer>
}

/** One that the config knows and this record does not fails to compile. Chains are of the family's own type, with the reads that its bridges need. */
export const chainFamilies = {
  evm: { createChain: createEvmChain, createSigner },
} satisfies Record<ChainConfig['family'], Family>

type Options = Partial<
  Pick<Parameters<(typeof chainFamilies)[ChainConfig['family']]['createChain']>[0], 'nodes' | 'timeoutMs' | 'environment'>
>

/** A chain of the config, not connected yet; the caller closes it. `options` replace what the config says. */
export function createConfiguredChain(name: ChainName, chain: ChainConfig, options: Options = {}) {
  const { family, networkId, nodes, finality, blockTimeMs } = chain
  return chainFamilies[family].createChain({ name, networkId, nodes, finality, blockTimeMs, ...options })
}

export type ConfiguredChain = ReturnType<typeof createConfiguredChain>

/** What replaces values of the config. */
export type ConfiguredChainOptions = Options
