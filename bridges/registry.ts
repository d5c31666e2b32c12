import type { EvmChain } from '../chains/evm/index.ts'
import type { Chain } from '../chains/port.ts'
import type { NativeBridgeConfig, WormholeTokenBridgeConfig } from '../config/bridge-schema.ts'
import type { ChainConfig, Config } from '../config/schema.ts'
import type { BridgeName, ChainName } from '../domain/transfer.ts'
import { createEvmEndpoint as createNativeEndpoint } from './native-bridge/evm.ts'
import { createNativeBridge } from './native-bridge/index.ts'
import type { NativeRoute } from './native-bridge/message.ts'
import type { ReadableRoute } from './native-bridge/verify.ts'
import type { Bridge, Bridges, Endpoint } from './port.ts'
import { createEvmEndpoint, type EvmEndpointOptions } from './wormhole-token-bridge/evm.ts'
import { createWormholeTokenBridge } from './wormhole-token-bridge/index.ts'

/** What bridges are made from: a config fits. `chains` are all of them, also those that this process is not connected to. */
export interface BridgesOptions {
  readonly chains: Readonly<Record<ChainName, Pick<ChainConfig, 'family' | 'networkId' | 'wormholeChainId' | 'contracts'>>>
  readonly bridges: Config['bridges']
}

/** Where signed messages of a bridge are heard: a guardian spy, and whose messages to ask it for. */
export interface SpySource {
  readonly bridge: BridgeName
  /** host:port */
  readonly address: string
  /** Emitters: Wormhole chain id and 64 lower-case hex digits. */
  readonly filters: readonly { readonly chain: number; readonly emitter: string }[]
}

type Connected = ReadonlyMap<ChainName, Chain>
type Settings<Name extends keyof Config['bridges']> = NonNullable<Config['bridges'][Name]>

/** How each bridge is made from its own part of the config; one that the config knows and this record does not fails to compile. */
const makers: {
  readonly [Name in keyof Required<Config['bridges']>]: (settings: Settings<Name>, options: BridgesOptions, connected: Connected) => Bridge
} = {
  'wormhole-token-bridge': (settings, { chains }, connected) =>
    createWormholeTokenBridge({
      chainNames: new Map(Object.entries(chains).map(([name, { wormholeChainId }]) => [wormholeChainId, name])),
      endpoints: new Map(
        Object.entries(chains).flatMap(([name, chain]) => {
          const connection = connected.get(name)
          return connection ? [[name, tokenBridgeEndpoints[chain.family](connection, tokenBridgeValues(name, chain, settings))]] : []
        }),
      ),
      sources: [],
    }),
  'native-bridge': ({ routes }, { chains }, connected) => {
    const all = routes.map((route) => nativeRoute(route, chains))
    const readable = all.flatMap((route) => {
      const source = connected.get(route.sourceChain)
      return source ? [{ ...route, source: source as EvmChain }] : []
    })
    return createNativeBridge({
      routes: all,
      endpoints: new Map(
        [...connected].map(([name, chain]) => {
          const ours = readable.filter(({ targetChain }) => targetChain === name)
          return [name, nativeEndpoints[chainFamily(chains, name)](chain, ours)]
        }),
      ),
      sources: [],
    })
  },
}

/** How the native bridge stands on a chain of each family. */
const nativeEndpoints: Record<ChainConfig['family'], (chain: Chain, routes: readonly ReadableRoute[]) => Endpoint> = {
  evm: (chain, routes) => createNativeEndpoint({ chain: chain as EvmChain, routes }),
}

/** How the token bridge stands on a chain of each family. */
const tokenBridgeEndpoints: Record<ChainConfig['family'], (chain: Chain, values: Omit<EvmEndpointOptions, 'chain'>) => Endpoint> = {
  // The chain registry makes EvmChains for this family, and nothing else.
  evm: (chain, values) => createEvmEndpoint({ ...values, chain: chain as EvmChain }),
}

/** All bridges of the config, with an endpoint on every connected chain. */
export function createBridges(options: BridgesOptions, connected: Connected): Bridges {
  const make = <Name extends keyof typeof makers>(name: Name, settings: Config['bridges'][Name]): [BridgeName, Bridge][] =>
    settings ? [[name, makers[name](settings, options, connected)]] : []
  return new Map((Object.keys(makers) as (keyof typeof makers)[]).flatMap((name) => make(name, options.bridges[name])))
}

/** The guardian spies of the config; the filters are the token bridges of all its chains. */
export function spySources({ chains, bridges }: BridgesOptions): readonly SpySource[] {
  const bridge = 'wormhole-token-bridge'
  const address = bridges[bridge]?.spy?.address
  if (address === undefined) return []
  const filters = Object.values(chains).map(({ wormholeChainId, contracts }) => ({
    chain: wormholeChainId,
    emitter: contracts.tokenBridge.slice(2).toLowerCase().padStart(64, '0'),
  }))
  return [{ bridge, address, filters }]
}

function nativeRoute(route: NativeBridgeConfig['routes'][number], chains: BridgesOptions['chains']): NativeRoute {
  const { source, target, sourceContract, targetContract } = route
  const sourceNetworkId = String(chains[source]?.networkId)
  return { sourceChain: source, sourceNetworkId, sourceBridge: sourceContract, targetChain: target, targetBridge: targetContract }
}

function chainFamily(chains: BridgesOptions['chains'], name: ChainName): ChainConfig['family'] {
  return chains[name]?.family ?? 'evm'
}

function tokenBridgeValues(
  name: ChainName,
  { wormholeChainId, contracts }: BridgesOptions['chains'][ChainName],
  { assets, minimumFees, calls }: WormholeTokenBridgeConfig,
): Omit<EvmEndpointOptions, 'chain'> {
  return {
    wormholeChainId,
    core: contracts.core,
    tokenBridge: contracts.tokenBridge,
    ...(assets && { assets }),
    minimumFees: minimumFees[name] ?? {},
    calls: calls[name] ?? {},
  }
}
