import type { EvmChain } from '../chains/evm/index.ts'
import type { Chain } from '../chains/port.ts'
import type { ChainConfig, Config, WormholeTokenBridgeConfig } from '../config/schema.ts'
import type { BridgeName, ChainName } from '../domain/transfer.ts'
import type { Bridge, Bridges, Endpoint } from './port.ts'
import { createEvmEndpoint, type EvmEndpointOptions } from './wormhole-token-bridge/evm.ts'
import { createWormholeTokenBridge } from './wormhole-token-bridge/index.ts'

/** What bridges are made from: a config fits. `chains` are all of them, also those that this process is not connected to. */
export interface BridgesOptions {
  readonly chains: Readonly<Record<ChainName, Pick<ChainConfig, 'family' | 'wormholeChainId' | 'contracts'>>>
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
    }),
}

/** How the token bridge stands on a chain of each family. */
const tokenBridgeEndpoints: Record<ChainConfig['family'], (chain: Chain, values: Omit<EvmEndpointOptions, 'chain'>) => Endpoint> = {
  // The chain registry makes EvmChains for this family, and nothing else.
  evm: (chain, values) => createEvmEndpoint({ ...values, chain: chain as EvmChain }),
}

/** All bridges of the config, with an endpoint on every connected chain. */
export function createBridges(options: BridgesOptions, connected: Connected): Bridges {
  const names = Object.keys(makers) as (keyof typeof makers)[]
  return new Map(
    names.flatMap((name) => {
      const settings = options.bridges[name]
      return settings ? [[name, makers[name](settings, options, connected)] as const] : []
    }),
  )
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
