import { tokenBridgeEmitters } from '../../bridges/wormhole-token-bridge/emitters.ts'
import { checkEnds, checkSource } from './end-checks.ts'
import { pathText, type Problem } from './problems.ts'
import { type Chains, checkChain, type Fields, map, maps, repeated, unless } from './raw-tree.ts'

const path = 'bridges.wormhole-token-bridge'

const neededByWormhole = {
  wormholeChainId: "Add Wormhole's number of the chain, or remove the chain, or bridges.wormhole-token-bridge.",
  contracts: 'Add core, and tokenBridge if the chain has a token bridge.',
}

export function checkWormhole(fields: Fields, chains: Chains): Problem[] {
  const { minimumFees, prices, calls, emitters, freeRoutes, streams } = fields
  const tables = (fields: Fields) =>
    Object.entries(fields).flatMap(([field, byChain]) =>
      Object.entries(map(byChain)).map(([chain, table]) => ({ path: `${path}.${pathText([field, chain])}`, chain, table: map(table) })),
    )
  return [
    ...[...chains].flatMap(([name, chain]) =>
      Object.entries(neededByWormhole).flatMap(([field, remedy]) =>
        unless(chain[field] !== undefined, `chains.${name}.${field}`, `is missing, and ${path} needs it`, remedy),
      ),
    ),
    ...tables({ minimumFees, prices, calls, streams }).flatMap(({ path, chain }) => needsTokenBridge(path, chain, chains)),
    ...maps(freeRoutes).flatMap(({ target }, index) => needsTokenBridge(`${path}.freeRoutes[${index}].target`, target, chains)),
    ...tables({ minimumFees, prices, calls }).flatMap(({ path, chain }) => checkChain(path, chain, chains)),
    ...tables({ minimumFees, prices }).flatMap(({ path, table }) => checkTokens(path, table)),
    ...checkKnownBridges(fields, chains),
    ...[...chains].flatMap(([name, { wormholeChainId: id }]) =>
      unless(
        typeof id !== 'number' || !Object.hasOwn(map(emitters), String(id)),
        `${path}.emitters.${String(id)}`,
        `is the chain ${name} of this config`,
        `Remove it, and name the token bridge in chains.${name}.contracts.`,
      ),
    ),
    ...Object.keys(map(streams)).flatMap((source) => checkSource(`${path}.${pathText(['streams', source])}`, source, fields, chains)),
    ...maps(freeRoutes).flatMap((route, index) => checkEnds(`${path}.freeRoutes[${index}]`, route, chains, fields)),
  ]
}

/** Finds chains whose token bridges `everySource` includes, but the config does not name: they would not be sources. */
function checkKnownBridges({ everySource }: Fields, chains: Chains): Problem[] {
  const known = everySource === 'mainnet' || everySource === 'testnet' ? tokenBridgeEmitters[everySource] : []
  return [...chains].flatMap(([name, { wormholeChainId: id, contracts }]) => {
    const isNamed = contracts === undefined || map(contracts)['tokenBridge'] !== undefined
    const isKnown = known.some(([chain]) => chain === id)
    const problem = 'is missing, and everySource includes the token bridge of this chain'
    return unless(isNamed || !isKnown, `chains.${name}.contracts.tokenBridge`, problem, 'Add its address.')
  })
}

function needsTokenBridge(path: string, name: unknown, chains: Chains): Problem[] {
  if (typeof name !== 'string') return []
  const { contracts } = chains.get(name) ?? {}
  const hasBridge = contracts === undefined || map(contracts)['tokenBridge'] !== undefined
  return unless(hasBridge, path, `is for ${name}, which has no token bridge`, `Add chains.${name}.contracts.tokenBridge, or remove this.`)
}

/** Finds fees that need a price feed, although the config has none. */
export function checkNoFeed({ minimumFees, prices }: Fields): Problem[] {
  const needing = (field: string, table: unknown, isNeeding: (value: string) => boolean) =>
    Object.entries(map(table)).flatMap(([chain, ofChain]) =>
      Object.entries(map(ofChain)).flatMap(([token, value]) => {
        return unless(
          !isNeeding(String(value)),
          `${path}.${pathText([field, chain, token])}`,
          'needs a price feed',
          'Add priceFeed, or give the value without it.',
        )
      }),
    )
  return [
    ...needing('minimumFees', minimumFees, (value) => value.endsWith(' dollars')),
    ...needing('prices', prices, (value) => value === 'feed'),
  ]
}

/** Finds two spellings of one token, which would make the token's fee ambiguous. */
function checkTokens(path: string, table: Fields): Problem[] {
  const tokens = Object.keys(table).map((token) => token.toLowerCase().replace('/0x', '/'))
  return repeated(
    tokens,
    () => path,
    (token) => `names the token ${pathText([token])} twice`,
    'Keep one of the two fees.',
  ).slice(0, 1)
}
