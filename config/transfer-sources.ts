import type { Config } from './schema/schema.ts'

/** The names by which the ids of transfers may have a source chain: its name, its number in Wormhole, its network id; by any of them. */
export function sourceIdsOf({ chains }: Pick<Config, 'chains'>, given: string): readonly string[] {
  return Object.entries(chains).flatMap(([name, { networkId, wormholeChainId }]) => {
    const ids = [name, String(networkId), ...(wormholeChainId === undefined ? [] : [String(wormholeChainId)])]
    return ids.includes(given) ? ids : []
  })
}
