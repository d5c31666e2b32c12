import { type ConfiguredChain, type ConfiguredChainOptions, createConfiguredChain } from '../../chains/registry.ts'
import { chainOf } from '../../config/chains.ts'
import type { Config } from '../../config/schema/schema.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'

/** Connects the chain. Throws INPUT_INVALID (unknown chain), NODE_UNAVAILABLE, CHAIN_ID_MISMATCH. */
export async function withChain<Result>(
  config: Config,
  name: ChainName,
  use: (chain: ConfiguredChain) => Promise<Result>,
  options?: ConfiguredChainOptions,
): Promise<Result> {
  const chain = createConfiguredChain(name, chainOf(config, name), options)
  try {
    await chain.connect()
    return await use(chain)
  } finally {
    chain.close()
  }
}
