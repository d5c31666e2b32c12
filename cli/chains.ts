import { chainFamilies } from '../chains/registry.ts'
import { chainOf } from '../config/chains.ts'
import type { ChainConfig, Config } from '../config/schema.ts'
import type { ChainName } from '../domain/transfer/transfer.ts'

type Options = Partial<
  Pick<Parameters<(typeof chainFamilies)[ChainConfig['family']]['createChain']>[0], 'nodes' | 'timeoutMs' | 'environment'>
>

/** A chain of the config, not connected yet; the caller closes it. `options` replace what the config says. */
export function createConfiguredChain(name: ChainName, chain: ChainConfig, options: Options = {}) {
  const { family, networkId, nodes, finality, blockTimeMs } = chain
  return chainFamilies[family].createChain({ name, networkId, nodes, finality, blockTimeMs, ...options })
}

export type ConfiguredChain = ReturnType<typeof createConfiguredChain>

/** Runs `use` with a connected chain of the config. Throws INPUT_INVALID (no such chain), NODE_UNAVAILABLE, CHAIN_ID_MISMATCH. */
export async function withChain<Result>(
  config: Config,
  name: ChainName,
  use: (chain: ConfiguredChain) => Promise<Result>,
  options?: Options,
): Promise<Result> {
  const chain = createConfiguredChain(name, chainOf(config, name), options)
  try {
    await chain.connect()
    return await use(chain)
  } finally {
    chain.close()
  }
}
