import { executorOf } from '../config/executor.ts'
import { emitterStreamSchema } from '../config/schema/bridge-schema.ts'
import type { ChainConfig, Config } from '../config/schema/schema.ts'
import { RelayerError } from '../domain/catalogue/errors.ts'
import { createStreamNames, type StreamName, type StreamNames } from '../domain/stream/stream.ts'
import { type BridgeName, type ChainName, numberOfUnconfigured, unconfiguredSource } from '../domain/transfer/transfer.ts'
import { parseVaa } from '../domain/vaa.ts'
import { cctpChains } from './cctp/bridge.ts'
import { cctp } from './cctp/routes.ts'
import { executor } from './executor/requests.ts'
import { streamOf } from './kit/emitter-sources.ts'
import { emitterOf } from './kit/placed-logs.ts'
import type { Decode, Emitter } from './kit/published.ts'
import type { ChainNames } from './kit/signed-messages.ts'
import type { BuiltInPlugin } from './kit/plugin-bridge.ts'
import type { Plugin, PluginContext, Route } from './kit/plugin.ts'
import { streamOf as nativeStreamOf } from './native-bridge/streams.ts'
import { createNtt } from './ntt/ntt.ts'
import { createReceivers } from './receivers/receivers.ts'
import { routesOf as tokenBridgeRoutes, wormholeTokenBridge } from './wormhole-token-bridge/token-bridge.ts'
import { tokenBridgeEmitters } from './wormhole-token-bridge/emitters.ts'

/** `chains` includes chains that are not connected. */
export interface BridgesOptions {
  readonly chains: Readonly<
    Record<ChainName, Pick<ChainConfig, 'networkId' | 'wormholeChainId' | 'contracts'> & Partial<Pick<ChainConfig, 'lanes' | 'feeModel'>>>
  >
  readonly bridges: Config['bridges']
}

export type Settings<Name extends keyof Config['bridges']> = NonNullable<Config['bridges'][Name]>

/** Returns the URLs of the APIs that have signed messages. The URLs may contain keys. */
export function signedApis({
  bridges,
}: Pick<BridgesOptions, 'bridges'>): Pick<Settings<typeof wormholeTokenBridge>, 'guardianApis' | 'wormholescanApis'> {
  return bridges[wormholeTokenBridge] ?? { guardianApis: [], wormholescanApis: [] }
}

/** Returns the token bridges on chains outside the config. */
export function sourcesWithoutNode({ chains, bridges }: BridgesOptions): readonly Emitter[] {
  const settings = bridges[wormholeTokenBridge]
  if (!settings) return []
  // `everySource` names a network of Wormhole's SDK. `emitters` adds emitters, and replaces the SDK's emitters for the
  // same chains.
  const { everySource, emitters } = settings
  const known = everySource ? tokenBridgeEmitters[everySource].map(([chain, , emitter]) => [chain, emitter] as const) : []
  const named = Object.entries(emitters).map(([chain, emitter]) => [Number(chain), emitter] as const)
  const own = new Set(Object.values(chains).map(({ wormholeChainId }) => wormholeChainId))
  return [...new Map([...known, ...named])]
    .filter(([chain]) => !own.has(chain))
    .map(([emitterChain, emitter]) => ({ emitterChain, emitter, sourceChain: unconfiguredSource(emitterChain) }))
}

export interface ConfiguredEmitter extends Emitter {
  /** The first bridge with this emitter. Other bridges may own some of its messages. */
  readonly bridge: BridgeName
}

/**
 * Returns each emitter once: under the token bridge if this bridge has the emitter, otherwise under the first bridge
 * that names the emitter.
 */
export function emittersOf(options: BridgesOptions): readonly ConfiguredEmitter[] {
  const { chains, bridges } = options
  const own = (bridges[wormholeTokenBridge] ? tokenBridgesOf(chains) : []).map(({ name: sourceChain, wormholeChainId, tokenBridge }) => {
    return { sourceChain, emitterChain: wormholeChainId, emitter: emitterOf(tokenBridge) }
  })
  const emitters = new Map<string, ConfiguredEmitter>()
  const add = (bridge: BridgeName, { sourceChain, emitterChain, emitter }: Emitter) => {
    const key = `${emitterChain}/${emitter}`
    if (!emitters.has(key)) emitters.set(key, { bridge, sourceChain, emitterChain, emitter })
  }
  for (const one of [...own, ...sourcesWithoutNode(options)]) add(wormholeTokenBridge, one)
  for (const { name, routes } of [...pluginsOf(options), ...packagesOf(options)])
    for (const { source: sourceChain, emitter } of routes.flatMap(({ from }) => (from === 'accepted' ? [] : from)))
      add(name, { sourceChain, emitterChain: numberOf(sourceChain, options), emitter })
  return [...emitters.values()]
}

/**
 * Makes `decode` throw PAYLOAD_KIND for emitters of other bridges, because anyone may publish the bytes of a token
 * transfer through such an emitter.
 */
export function unlessOfOthers(decode: Decode, options: BridgesOptions): Decode {
  const others = new Set(
    emittersOf(options).flatMap((one) => (one.bridge === wormholeTokenBridge ? [] : [`${one.emitterChain}/${one.emitter}`])),
  )
  if (others.size === 0) return decode
  return (message) => {
    const { emitterChain, emitter } = parseVaa(message)
    if (others.has(`${emitterChain}/${emitter}`)) throw new RelayerError('PAYLOAD_KIND', { facts: { emitterChain, emitter } })
    return decode(message)
  }
}

export function streamSettings({ bridge, sourceChain, emitter }: ConfiguredEmitter, { bridges }: BridgesOptions) {
  const ofRoute = bridges.receivers?.routes.find((route) => route.source === sourceChain && route.emitter === emitter)
  const ofToken = bridges.ntt?.tokens.find(({ peers }) => peers[sourceChain]?.transceivers.includes(emitter))
  const ofPackage = bridges.plugins?.[bridge]
  const given =
    bridge === wormholeTokenBridge ? bridges[wormholeTokenBridge]?.streams[sourceChain] : (ofRoute ?? ofToken ?? ofPackage)?.stream
  return given ?? emitterStreamSchema.parse({})
}

const wormhole = 'wormhole'
export const prefixOf = ({ bridge }: ConfiguredEmitter): string => (bridge === wormholeTokenBridge ? bridge : wormhole)

/** Returns the guardian spies. Portage subscribes to all emitters at each spy. */
export function spySources(options: BridgesOptions) {
  const spies = options.bridges[wormholeTokenBridge]?.spies ?? []
  const filters = emittersOf(options).map(({ emitterChain: chain, emitter }) => ({ chain, emitter }))
  return spies.map((spy) => ({ ...spy, bridge: wormholeTokenBridge, filters }))
}

/** Returns the plug-ins, in the order in which they are asked whether a message is theirs. */
export function pluginsOf(options: BridgesOptions): readonly BuiltInPlugin<unknown>[] {
  const { receivers: ofContracts, ntt: ofTokens } = options.bridges
  return [
    ...(ofContracts ? [createReceivers(ofContracts.routes)] : []),
    // Without NTT, a chain may have no Wormhole chain id, and `namesOf` would throw.
    ...(ofTokens ? [createNtt(freeTokens(ofTokens), namesOf(options))] : []),
  ]
}

/** Transfers of tokens that are not free are delivered only for a paid request. */
const freeTokens = ({ tokens }: Settings<'ntt'>) => tokens.filter(({ free }) => free)

export function packagesOf({ bridges }: Pick<BridgesOptions, 'bridges'>): readonly Pick<Plugin<unknown>, 'name' | 'routes'>[] {
  return Object.entries(bridges.plugins ?? {}).map(([name, { routes }]) => ({ name, routes }))
}

/**
 * Throws CONFIG_INVALID if a message may fit both a route of a package and a route of a bridge that reads messages
 * after this package (a later package, or the token bridge). While the package fails, it would hold up such messages of
 * the other bridge.
 */
export function demandOwnMessages(options: BridgesOptions): void {
  const packages = packagesOf(options)
  if (packages.length === 0) return
  const later = [...packages, { name: wormholeTokenBridge, routes: routesOfTokenBridge(options) }]
  for (const [place, { name, routes }] of packages.entries())
    for (const [index, route] of routes.entries()) {
      const other = later.slice(place + 1).find((one) => one.routes.some((their) => shareMessages(route, their)))
      if (!other) continue
      const shared = `bridges.plugins.${name}.routes[${index}] fits messages that fit a route of ${other.name}, too.`
      const detail = `${shared} If ${name} failed, it would hold these messages up. Give each route a \`where\` with other bytes at one offset.`
      throw new RelayerError('CONFIG_INVALID', { detail, facts: { plugin: name } })
    }
}

/** The routes of messages that the token bridge delivers. */
function routesOfTokenBridge(options: BridgesOptions): Route[] {
  const settings = options.bridges[wormholeTokenBridge]
  if (!settings) return []
  const from = emittersOf(options)
    .filter(({ bridge }) => bridge === wormholeTokenBridge)
    .map(({ sourceChain: source, emitter }) => ({ source, emitter }))
  return tokenBridgesOf(options.chains)
    .flatMap((one) => tokenBridgeRoutes({ ...one, calls: settings.calls[one.name] }))
    .flatMap((route) => (route.calls.length > 0 ? [{ ...route, from }] : []))
}

function shareMessages(a: Route, b: Route): boolean {
  const emitters = ({ from }: Route) => (from === 'accepted' ? [] : from)
  const isShared = emitters(a).some((one) => emitters(b).some(({ source, emitter }) => source === one.source && emitter === one.emitter))
  const bytes = bytesOf(a)
  return isShared && bytesOf(b).every(([offset, byte]) => bytes.every(([at, other]) => at !== offset || other === byte))
}

function bytesOf({ where = {} }: Route): (readonly [offset: number, byte: string])[] {
  return Object.entries(where).flatMap(([start, hex]) =>
    [...hex.matchAll(/../g)].map(([byte], index) => [Number(start) + index, byte] as const),
  )
}

export function pluginContext(options: BridgesOptions): PluginContext {
  return { chains: new Map([...namesOf(options)].map(([number, name]) => [name, number])) }
}

function numberOf(source: ChainName, { chains }: BridgesOptions): number {
  return Number(numberOfUnconfigured(source) ?? wormholeOf(source, chains[source]).wormholeChainId)
}

export function namesOf({ chains }: BridgesOptions): ChainNames {
  return new Map(Object.entries(chains).map(([name, chain]) => [wormholeOf(name, chain).wormholeChainId, name]))
}

/** Throws CONFIG_INVALID if the chain lacks its Wormhole chain id or its contracts (config/load/cross-checks.ts). */
export function wormholeOf(name: ChainName, { wormholeChainId, contracts }: Partial<BridgesOptions['chains'][ChainName]> = {}) {
  if (wormholeChainId === undefined || !contracts)
    throw new RelayerError('CONFIG_INVALID', { detail: `chains.${name} has no wormholeChainId or no contracts.` })
  return { wormholeChainId, ...contracts }
}

/** Returns the chains that have a token bridge. Throws CONFIG_INVALID as `wormholeOf` does. */
export function tokenBridgesOf(chains: BridgesOptions['chains']) {
  return Object.entries(chains).flatMap(([name, chain]) => {
    const { wormholeChainId, tokenBridge } = wormholeOf(name, chain)
    return tokenBridge === undefined ? [] : [{ name, wormholeChainId, tokenBridge }]
  })
}

/**
 * Returns a chain's name for people. For a chain outside the config, the returned name begins with the chain's name in
 * Wormhole's SDK.
 */
export function sourceTitle(sourceChain: ChainName): string {
  const id = numberOfUnconfigured(sourceChain)
  const known = Object.values(tokenBridgeEmitters)
    .flat()
    .find(([chain]) => String(chain) === id)
  return known ? `${known[1]} (${sourceChain})` : sourceChain
}

/** Returns all streams of the config. `id` is used in Temporal, and `name` is shown to people. */
export function configuredStreams(options: BridgesOptions): readonly StreamName[] {
  const { chains, bridges } = options
  const named = (prefix: string, id: number | string, name: ChainName, emitter: string) => {
    return { id: streamOf(prefix, id, emitter), name: streamOf(prefix, name, emitter) }
  }
  const signed = emittersOf(options).map((end) => named(prefixOf(end), end.emitterChain, end.sourceChain, end.emitter))
  const networkOf = (chain: ChainName) => String(chains[chain]?.networkId ?? chain)
  const routes = bridges['native-bridge']?.routes ?? []
  const scanned = routes.map(({ source, target }) => ({
    id: nativeStreamOf(networkOf(source), networkOf(target)),
    name: nativeStreamOf(source, target),
  }))
  const placed = [...(executorOf(options)?.chains ?? [])].map(([id, { name, contract }]) => named(executor, id, name, emitterOf(contract)))
  const burns = cctpChains(bridges.cctp ?? { chains: {} }, chains).flatMap(({ chain, networkId, contracts }) =>
    Object.values(contracts).map(({ transmitter }) => named(cctp, networkId, chain, emitterOf(transmitter))),
  )
  return [...signed, ...scanned, ...placed, ...burns]
}

export function streamNames(options: BridgesOptions): StreamNames {
  return createStreamNames(configuredStreams(options))
}
