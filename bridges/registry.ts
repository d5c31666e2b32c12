import type { EvmChain } from '../chains/evm/index.ts'
import { emitterStreamSchema } from '../config/schema/bridge-schema.ts'
import type { ChainConfig, Config } from '../config/schema/schema.ts'
import { RelayerError } from '../domain/catalogue/errors.ts'
import { createStreamNames, type StreamName, type StreamNames } from '../domain/stream/stream.ts'
import { type BridgeName, type ChainName, numberOfUnconfigured } from '../domain/transfer/transfer.ts'
import { createVerifiedMessages } from './kit/verified-messages.ts'
import { createEvmEndpoint as createNativeEndpoint } from './native-bridge/evm.ts'
import { contentOf as nativeContent, createDecode as createNativeDecode, nativeBridge, readMessage } from './native-bridge/message.ts'
import { createNativeSource, streamOf as nativeStreamOf } from './native-bridge/streams.ts'
import type { Bridge, Bridges } from './port.ts'
import { createEvmEndpoint as createTokenBridgeEndpoint } from './wormhole-token-bridge/evm.ts'
import { tokenBridgeEmitters } from './wormhole-token-bridge/emitters.ts'
import { createSourceWithoutNode, createTokenBridgeSource, emittersWithoutNode, streamOf } from './wormhole-token-bridge/streams.ts'
import type { Emitter } from './wormhole-token-bridge/published.ts'
import { contentOf, createDecode, signedBy, wormholeTokenBridge } from './wormhole-token-bridge/message.ts'

/** `chains` has all chains of the config, also those that are not connected. */
export interface BridgesOptions {
  readonly chains: Readonly<Record<ChainName, Pick<ChainConfig, 'networkId' | 'wormholeChainId' | 'contracts'>>>
  readonly bridges: Config['bridges']
}

type Chains = ReadonlyMap<ChainName, EvmChain>

/** The process delivers to `served`, and also reads messages of `connected`. All are `evm`. */
interface Connections {
  readonly connected: Chains
  readonly served: Chains
}

type Settings<Name extends keyof Config['bridges']> = NonNullable<Config['bridges'][Name]>

/** Fails to compile if a bridge of the config is missing. */
const makers: {
  readonly [Name in keyof Required<Config['bridges']>]: (settings: Settings<Name>, options: BridgesOptions, chains: Connections) => Bridge
} = {
  'wormhole-token-bridge': (settings, { chains }, { served }) => {
    const { assets, minimumFees, prices, freeRoutes, calls, streams } = settings
    const all = Object.entries(chains).map(([name, chain]) => ({ name, ...wormholeOf(name, chain) }))
    const chainNames = new Map(all.map(({ wormholeChainId, name }) => [wormholeChainId, name]))
    const ours = all.flatMap((end) => {
      const chain = served.get(end.name)
      return chain ? [{ ...end, chain, sourceChain: end.name, chainNames }] : []
    })
    const targets = new Map(ours.map((end) => [end.name, end]))
    const endpoints = ours.map(({ name, ...end }) => {
      const isFree = (from: ChainName) =>
        freeRoutes.some(({ source, target }) => target === name && (source === undefined || source === from))
      const ofChain = { minimumFees: minimumFees[name], prices: prices[name], calls: calls[name] }
      return [name, createTokenBridgeEndpoint({ ...end, ...ofChain, assets, isFree })] as const
    })
    const streamOptions = (source: ChainName) => streams[source] ?? emitterStreamSchema.parse({})
    const counted = ours.map((end) => {
      const { first, startBlock: block, maxOpen } = streamOptions(end.name)
      return createTokenBridgeSource({ ...end, targets, begins: { first, block }, maxOpen })
    })
    const withoutNode = emittersWithoutNode(settings, new Set(chainNames.keys())).map((end) => {
      const { first, maxOpen } = streamOptions(end.sourceChain)
      return createSourceWithoutNode({ ...end, targets, begins: { first }, maxOpen })
    })
    const sources = [...counted, ...withoutNode]
    return {
      name: wormholeTokenBridge,
      decode: createDecode(chainNames),
      content: contentOf,
      signedBy,
      endpoints: new Map(endpoints),
      sources,
    }
  },
  'native-bridge': ({ routes }, { chains }, { connected, served }) => {
    const verified = createVerifiedMessages()
    const all = routes.map(({ source, target, sourceContract, targetContract, ...settings }) => ({
      ...settings,
      sourceChain: source,
      sourceNetworkId: String(chains[source]?.networkId),
      sourceBridge: sourceContract,
      targetChain: target,
      targetBridge: targetContract,
    }))
    const ours = all.flatMap((route) => {
      const [source, target] = [connected.get(route.sourceChain), served.get(route.targetChain)]
      return source && target ? [{ ...route, source, target }] : []
    })
    const endpointOn = (name: ChainName, chain: EvmChain) =>
      createNativeEndpoint({ chain, routes: ours.filter(({ targetChain }) => targetChain === name), verified })
    return {
      name: nativeBridge,
      decode: createNativeDecode(all),
      content: (bytes) => nativeContent(readMessage(bytes)),
      endpoints: new Map([...served].map(([name, chain]) => [name, endpointOn(name, chain)])),
      sources: ours.map((route) => createNativeSource({ ...route, route, verified })),
    }
  },
}

/** Creates all bridges of the config. `connected` includes `sourcesOf`. Only `served` get endpoints (default: all). */
export function createBridges(options: BridgesOptions, connected: Chains, served: Iterable<ChainName> = connected.keys()): Bridges {
  const names = new Set(served)
  const connections = { connected, served: new Map([...connected].filter(([name]) => names.has(name))) }
  const make = <Name extends keyof typeof makers>(name: Name, settings: Config['bridges'][Name]): [BridgeName, Bridge][] =>
    settings ? [[name, makers[name](settings, options, connections)]] : []
  return new Map((Object.keys(makers) as (keyof typeof makers)[]).flatMap((name) => make(name, options.bridges[name])))
}

/** Chains to connect for deliveries to `targets`, because messages without signatures are checked at their source. */
export function sourcesOf({ bridges }: Pick<BridgesOptions, 'bridges'>, targets: readonly ChainName[]): readonly ChainName[] {
  const routes = bridges['native-bridge']?.routes ?? []
  return [...new Set(routes.flatMap(({ source, target }) => (targets.includes(target) ? [source] : [])))]
}

/** APIs of signed messages by bridge. URLs may hold keys. */
export function signedApis({ bridges }: Pick<BridgesOptions, 'bridges'>) {
  const settings = bridges[wormholeTokenBridge]
  type Apis = Pick<Settings<typeof wormholeTokenBridge>, 'guardianApis' | 'wormholescanApis'>
  return new Map<BridgeName, Apis>(settings ? [[wormholeTokenBridge, settings]] : [])
}

export function sourcesWithoutNode({ chains, bridges }: BridgesOptions): readonly Emitter[] {
  const settings = bridges[wormholeTokenBridge]
  const own = Object.values(chains).flatMap(({ wormholeChainId }) => wormholeChainId ?? [])
  return settings ? emittersWithoutNode(settings, new Set(own)) : []
}

/** Guardian spies (host:port) with the emitters to subscribe to. */
export function spySources({ chains, bridges }: BridgesOptions) {
  const spies = bridges[wormholeTokenBridge]?.spies ?? []
  if (spies.length === 0) return []
  const own = Object.entries(chains).map(([name, chain]) => wormholeOf(name, chain))
  const emitters = [...own, ...sourcesWithoutNode({ chains, bridges })]
  const filters = emitters.map(({ emitterChain: chain, emitter }) => ({ chain, emitter }))
  return spies.map((spy) => ({ ...spy, bridge: wormholeTokenBridge, filters }))
}

export function configuredStreams({ chains, bridges }: BridgesOptions): readonly StreamName[] {
  const own = bridges[wormholeTokenBridge]
    ? Object.entries(chains).map(([name, chain]) => ({ sourceChain: name, ...wormholeOf(name, chain) }))
    : []
  const signed = [...own, ...sourcesWithoutNode({ chains, bridges })].map(({ sourceChain, emitter, emitterChain }) => ({
    id: streamOf(emitterChain, emitter),
    name: streamOf(sourceChain, emitter),
  }))
  const networkOf = (chain: ChainName) => String(chains[chain]?.networkId ?? chain)
  const routes = bridges['native-bridge']?.routes ?? []
  const scanned = routes.map(({ source, target }) => ({
    id: nativeStreamOf(networkOf(source), networkOf(target)),
    name: nativeStreamOf(source, target),
  }))
  return [...signed, ...scanned]
}

export function streamNames(options: BridgesOptions): StreamNames {
  return createStreamNames(configuredStreams(options))
}

/** The title of a source chain. For a chain outside the config, it begins with the chain's name in Wormhole's SDK. */
export function sourceTitle(sourceChain: ChainName): string {
  const id = numberOfUnconfigured(sourceChain)
  const known = Object.values(tokenBridgeEmitters)
    .flat()
    .find(([chain]) => String(chain) === id)
  return known ? `${known[1]} (${sourceChain})` : sourceChain
}

/** Throws CONFIG_INVALID. A loaded config never causes it (config/load/cross-checks.ts). */
function wormholeOf(name: ChainName, { wormholeChainId, contracts }: BridgesOptions['chains'][ChainName]) {
  if (wormholeChainId === undefined || !contracts)
    throw new RelayerError('CONFIG_INVALID', { detail: `chains.${name} has no wormholeChainId or no contracts.` })
  const { core, tokenBridge } = contracts
  const emitter = tokenBridge.slice(2).toLowerCase().padStart(64, '0')
  return { wormholeChainId, emitterChain: wormholeChainId, emitter, core, tokenBridge }
}
