import type { ChainName } from './transfer.ts'

/** Name of a source that is not in the config, by its Wormhole chain id. No chain of a config may have it. */
export function unconfiguredSource(wormholeChainId: number): ChainName {
  return `wormhole-${wormholeChainId}`
}

/** The number of such a source in Wormhole. Undefined: the name belongs to a chain of the config. */
export function numberOfUnconfigured(name: ChainName): string | undefined {
  return /^wormhole-([1-9][0-9]{0,4})$/.exec(name)?.[1]
}
