import type { EvmChain } from '../chains/evm/index.ts'
import type { Chain } from '../chains/port.ts'
import { emitterStreamSchema, type NativeBridgeConfig, type WormholeTokenBridgeConfig } from '../config/bridge-schema.ts'
import type { ChainConfig, Config } from '../config/schema.ts'
import { RelayerError } from '../domain/errors.ts'
import type { BridgeName, ChainName } from '../domain/transfer/transfer.ts'
import { createEvmEndpoint as createNativeEndpoint } from './native-bridge/evm.ts'
import { createGoodMessages, type GoodMessages } from './common/good-messages.ts'
import { createNativeBridge } from './native-bridge/index.ts'
import type { NativeRoute } from './native-bridge/message.ts'
import { createNativeSource } from './native-bridge/streams.ts'
import type { ReadableRoute } from './native-bridge/verify.ts'
import type { Bridge, Bridges, Endpoint } from './port.ts'
import type { Source } from './source-port.ts'
import { createEvmEndpoint, type EvmEndpointOptions } from './wormhole-token-bridge/evm.ts'
import { createWormholeTokenBridge } from './wormhole-token-bridge/index.ts'
import { createTokenBridgeSource } from './wormhole-token-bridge/streams.ts'

/** What bridges are made from: a config fits. `chains` are all of them, also those that this process is not connected to. */
export interface BridgesOptions {
  readonly chains: Readonly<Record<ChainName, Pick<ChainConfig, 'family' | 'networkId' | 'wormholeChainId' | 'contracts'>>>
  readonly bridges: Config['bridges']
}

/** Where signed messages of a bridge come from: a guardian spy, and the emitters to ask it for. */
export interface SpySource {
  readonly bridge: BridgeName
  /** host:port */
  readonly address: string
  /** Emitters: Wormhole chain id and 64 lower-case hex digits. */
  readonly filters: readonly { readonly chain: number; readonly emitter: string }[]
}

type Chains = ReadonlyMap<ChainName, Chain>

/** The chains of a process: `served` are those that it delivers to, `connected` has also those that it only reads messages of. */
interface Connections {
  readonly connected: Chains
  readonly served: Chains
}

type Settings<Name extends keyof Config['bridges']> = NonNullable<Config['bridges'][Name]>

/** How each bridge is made from its own part of the config; one that the config knows and this record does not fails to compile. */
const makers: {
  readonly [Name in keyof Required<Config['bridges']>]: (settings: Settings<Name>, options: BridgesOptions, chains: Connections) => Bridge
} = {
  'wormhole-token-bridge': (settings, { chains }, { served }) => {
    const chainNames = new Map(Object.entries(chains).map(([name, chain]) => [wormholeOf(name, chain).wormholeChainId, name]))
    return createWormholeTokenBridge(chainNames, {
      endpoints: new Map(
        Object.entries(chains).flatMap(([name, chain]) => {
          const connection = served.get(name)
          return connection ? [[name, tokenBridgeEndpoints[chain.family](connection, tokenBridgeValues(name, chain, settings))]] : []
        }),
      ),
      sources: tokenBridgeSources(settings, chains, served, chainNames),
    })
  },
  'native-bridge': ({ routes }, { chains }, { connected, served }) => {
    const good = createGoodMessages()
    const all = routes.map((settings) => ({ ...settings, ...nativeRoute(settings, chains) }))
    // A route is served where its target is; its source is connected then.
    const ours = all.flatMap((route) => {
      const [source, target] = [connected.get(route.sourceChain), served.get(route.targetChain)]
      return source && target ? [{ ...route, source: evmOf(source), target: evmOf(target) }] : []
    })
    return createNativeBridge({
      routes: all,
      endpoints: new Map(
        [...served].map(([name, chain]) => {
          const toHere = ours.filter(({ targetChain }) => targetChain === name)
          return [name, nativeEndpoints[chainFamily(chains, name)](chain, toHere, good)]
        }),
      ),
      sources: ours.map((route) => createNativeSource({ ...route, route, good })),
    })
  },
}

/** The native bridge on a chain of each family. */
const nativeEndpoints: Record<ChainConfig['family'], (chain: Chain, routes: readonly ReadableRoute[], good: GoodMessages) => Endpoint> = {
  evm: (chain, routes, good) => createNativeEndpoint({ chain: evmOf(chain), routes, good }),
}

/** The token bridge on a chain of each family. */
const tokenBridgeEndpoints: Record<ChainConfig['family'], (chain: Chain, values: Omit<EvmEndpointOptions, 'chain'>) => Endpoint> = {
  evm: (chain, values) => createEvmEndpoint({ ...values, chain: evmOf(chain) }),
}

/** The token bridges of the served chains as streams. */
function tokenBridgeSources(
  { streams }: WormholeTokenBridgeConfig,
  chains: BridgesOptions['chains'],
  served: Chains,
  chainNames: ReadonlyMap<number, ChainName>,
): readonly Source[] {
  const ends = [...served].flatMap(([name, connection]) => {
    const chain = chains[name]
    return chain ? [{ name, chain: evmOf(connection), ...wormholeOf(name, chain) }] : []
  })
  const targets = new Map(ends.map(({ name, chain, contracts }) => [name, { chain, tokenBridge: contracts.tokenBridge }]))
  return ends.map(({ name, chain, wormholeChainId, contracts }) => {
    const { first, startBlock, maxOpen } = streams[name] ?? emitterStreamSchema.parse({})
    return createTokenBridgeSource({
      chain,
      core: contracts.core,
      sourceChain: name,
      emitterChain: wormholeChainId,
      emitter: emitterOf(contracts.tokenBridge),
      chainNames,
      targets,
      begins: { first, block: startBlock },
      maxOpen,
    })
  })
}

/**
 * All bridges of the config, with an endpoint on every served chain.
 * @param connected with the sources of the native routes to those (`sourcesOf`)
 * @param served names of connected chains; absent: all of them
 */
export function createBridges(options: BridgesOptions, connected: Chains, served: Iterable<ChainName> = connected.keys()): Bridges {
  const names = new Set(served)
  const connections = { connected, served: new Map([...connected].filter(([name]) => names.has(name))) }
  const make = <Name extends keyof typeof makers>(name: Name, settings: Config['bridges'][Name]): [BridgeName, Bridge][] =>
    settings ? [[name, makers[name](settings, options, connections)]] : []
  return new Map((Object.keys(makers) as (keyof typeof makers)[]).flatMap((name) => make(name, options.bridges[name])))
}

/** The chains that must be read to deliver to `targets`: sources whose messages have no signatures are asked themselves. */
export function sourcesOf({ bridges }: Pick<BridgesOptions, 'bridges'>, targets: readonly ChainName[]): readonly ChainName[] {
  const routes = bridges['native-bridge']?.routes ?? []
  return [...new Set(routes.flatMap(({ source, target }) => (targets.includes(target) ? [source] : [])))]
}

/** Where signed messages of a bridge can be fetched: base URLs, which may hold keys. */
export interface SignedApis {
  readonly guardianApis: readonly string[]
  readonly wormholescanApis: readonly string[]
}

/** By bridge. */
export function signedApis({ bridges }: Pick<BridgesOptions, 'bridges'>): ReadonlyMap<BridgeName, SignedApis> {
  const bridge = 'wormhole-token-bridge'
  const settings = bridges[bridge]
  return new Map(settings ? [[bridge, settings]] : [])
}

/** The guardian spies of the config; the filters are the token bridges of all its chains. */
export function spySources({ chains, bridges }: BridgesOptions): readonly SpySource[] {
  const bridge = 'wormhole-token-bridge'
  const address = bridges[bridge]?.spy?.address
  if (address === undefined) return []
  const filters = Object.entries(chains).map(([name, chain]) => {
    const { wormholeChainId, contracts } = wormholeOf(name, chain)
    return { chain: wormholeChainId, emitter: emitterOf(contracts.tokenBridge) }
  })
  return [{ bridge, address, filters }]
}

function nativeRoute(route: NativeBridgeConfig['routes'][number], chains: BridgesOptions['chains']): NativeRoute {
  const { source, target, sourceContract, targetContract } = route
  const sourceNetworkId = String(chains[source]?.networkId)
  return { sourceChain: source, sourceNetworkId, sourceBridge: sourceContract, targetChain: target, targetBridge: targetContract }
}

/** The chain registry makes EvmChains for the family `evm`, and the config knows no other one; a second family needs a source and a verifier of its own. */
function evmOf(chain: Chain): EvmChain {
  return chain as EvmChain
}

function chainFamily(chains: BridgesOptions['chains'], name: ChainName): ChainConfig['family'] {
  return chains[name]?.family ?? 'evm'
}

/** A contract as Wormhole names emitters. */
function emitterOf(contract: string): string {
  return contract.slice(2).toLowerCase().padStart(64, '0')
}

/** What Wormhole's bridge needs of a chain. Throws CONFIG_INVALID; a loaded config has it (config/cross-checks.ts). */
function wormholeOf(name: ChainName, { wormholeChainId, contracts }: BridgesOptions['chains'][ChainName]) {
  if (wormholeChainId !== undefined && contracts) return { wormholeChainId, contracts }
  throw new RelayerError('CONFIG_INVALID', { detail: `chains.${name} has no wormholeChainId or no contracts.` })
}

function tokenBridgeValues(
  name: ChainName,
  chain: BridgesOptions['chains'][ChainName],
  { assets, minimumFees, calls }: WormholeTokenBridgeConfig,
): Omit<EvmEndpointOptions, 'chain'> {
  const { wormholeChainId, contracts } = wormholeOf(name, chain)
  return {
    wormholeChainId,
    core: contracts.core,
    tokenBridge: contracts.tokenBridge,
    assets,
    minimumFees: minimumFees[name] ?? {},
    calls: calls[name] ?? {},
  }
}
