import type { ChainName } from './transfer.ts'

/**
 * Name of a source chain that is not in the config, by its number in Wormhole. No chain of a config may have such a
 * name.
 */
export function unconfiguredSource(wormholeChainId: number): ChainName {
  return `wormhole-${wormholeChainId}`
}

/** The number of such a source in Wormhole. Undefined: the name belongs to a chain of the config. */
export function numberOfUnconfigured(name: ChainName): string | undefined {
  return /^wormhole-([1-9][0-9]{0,4})$/.exec(name)?.[1]
}
