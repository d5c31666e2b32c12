import type { ChainName } from './transfer.ts'

/** What a source chain is called that the config does not have: by Wormhole's number of it. No chain of a config may have such a name. */
export function unconfiguredSource(wormholeChainId: number): ChainName {
  return `wormhole-${wormholeChainId}`
}

/** Wormhole's number of a source that is called so; undefined: the name is that of a chain of the config. */
export function numberOfUnconfigured(name: ChainName): string | undefined {
  return /^wormhole-([1-9][0-9]{0,4})$/.exec(name)?.[1]
}
