import type { EvmChain } from '../chains/evm/index.ts'
import { chainTime } from '../chains/heads.ts'
import type { Config } from '../config/schema/schema.ts'
import { isPluginFailure, RelayerError } from '../domain/catalogue/errors.ts'
import type { TariffRule } from '../domain/settings/tariff.ts'
import type { BridgeName, ChainName } from '../domain/transfer/transfer.ts'
import {
  type BridgesOptions,
  type ConfiguredEmitter,
  demandOwnMessages,
  emittersOf,
  namesOf,
  packagesOf,
  pluginsOf,
  prefixOf,
  type Settings,
  streamSettings,
  tokenBridgesOf,
  unlessOfOthers,
  wormholeOf,
} from './configured-emitters.ts'
import { unless } from './kit/contract-reader.ts'
import { createEmitterSource, createSourceWithoutNode, type SignedMessages } from './kit/emitter-sources.ts'
import {
  createPluginDecode,
  createPluginEndpoint,
  createPluginMessages,
  firstOwner,
  type PluginEndpointOptions,
  type Product,
} from './kit/plugin-bridge.ts'
import type { Plugin } from './kit/plugin.ts'
import type { Decode } from './kit/published.ts'
import { createGuardianSets, createVerifier, signedBy, type Verify } from './kit/signed-messages.ts'
import { createVerifiedMessages } from './kit/verified-messages.ts'
import { createTokenDecimals } from './native-bridge/contracts.ts'
import { createEvmEndpoint as createNativeEndpoint } from './native-bridge/evm.ts'
import { contentOf as nativeContent, createDecode as createNativeDecode, nativeBridge, readMessage } from './native-bridge/message.ts'
import { createNativeSource } from './native-bridge/streams.ts'
import { createPackageEndpoint, createRouteDecode, createRouteEndpoint } from './packages/endpoints.ts'
import { createGenuineMessages } from './packages/genuine.ts'
import type { LoadedPlugins } from './packages/load.ts'
import type { AttestationApis } from './cctp/attest.ts'
import { createCctpBridge } from './cctp/bridge.ts'
import { createExecutorBridge } from './executor-bridge.ts'
import type { FindVaa } from './kit/find-vaa.ts'
import type { Bridge, Bridges, Endpoint, PriceOf, SignedSource } from './port.ts'
import { createAmountDecimals, createTokenBridge, wormholeTokenBridge } from './wormhole-token-bridge/token-bridge.ts'

type Chains = ReadonlyMap<ChainName, EvmChain>

interface Links {
  readonly connected: Chains
  readonly served: Chains
  readonly signed: ReturnType<typeof createSigned>
  readonly loaded?: LoadedPlugins | undefined
  readonly findVaa: FindVaa
  readonly tariff?: (() => readonly TariffRule[]) | undefined
  readonly priceOf?: PriceOf | undefined
  readonly attestations: AttestationApis
}

function ofProduct<C>(product: Product<C>, options: BridgesOptions, links: Links): Bridge {
  const { signed } = links
  const messages = createPluginMessages(product, namesOf(options))
  const decode = createPluginDecode(product, messages)
  const takesAnyEmitter = product.routes.some(({ from }) => from === 'accepted')
  signed.own(takesAnyEmitter ? unlessOfOthers(decode, options) : decode)
  return {
    name: product.name,
    decode: signed.messages.decode,
    ...messages.about,
    endpoints: endpointsOf(options, links, (on) => createPluginEndpoint(product, messages, on)),
    sources: signedSourcesOf(product.name, options, links),
  }
}

function endpointsOf(options: BridgesOptions, { served, signed }: Links, make: (on: PluginEndpointOptions) => Endpoint) {
  const chainNames = namesOf(options)
  const endpoints = [...served].map(([name, chain]) => {
    return [name, make({ chain, clock: () => chainTime(chain), chainNames, verify: signed.verifierOf(name, chain) })] as const
  })
  return new Map(endpoints)
}

function tokenBridgeOf(
  { assets, minimumFees, prices, freeRoutes, calls }: Settings<typeof wormholeTokenBridge>,
  options: BridgesOptions,
  { tariff, priceOf, connected }: Pick<Links, 'tariff' | 'priceOf' | 'connected'>,
) {
  const own = tokenBridgesOf(options.chains)
  const targets = own.map(({ name, ...rest }) => {
    return [name, { ...rest, minimumFees: minimumFees[name], prices: prices[name], calls: calls[name] }] as const
  })
  const isFree = (from: ChainName, to: ChainName) =>
    freeRoutes.some(({ source, target }) => target === to && (source === undefined || source === from))
  const bridgeOf = (id: number) => {
    const found = own.find(({ wormholeChainId }) => wormholeChainId === id)
    const chain = found && connected.get(found.name)
    return chain && { chain, tokenBridge: found.tokenBridge }
  }
  return createTokenBridge({ targets: new Map(targets), assets, isFree, tariff, priceOf, decimals: createAmountDecimals(bridgeOf) })
}

type Parts = Pick<Bridge, 'content' | 'endpoints'> & Pick<SignedMessages, 'decodePublished'>

/**
 * Makes the bridge of a plug-in package. Without `loaded`, the process runs no plug-in code and knows only the
 * plug-in's routes.
 */
function packageBridge({ name, routes }: Pick<Plugin<unknown>, 'name' | 'routes'>, options: BridgesOptions, links: Links): Bridge {
  const { signed, loaded } = links
  const chainNames = namesOf(options)
  const byRoute = createRouteDecode(name, routes, chainNames)
  const genuine = createGenuineMessages()
  function partsOf(found: Plugin<unknown> | RelayerError | undefined): Parts {
    if (!found || found instanceof RelayerError) {
      const endpointOn = (on: PluginEndpointOptions) => createRouteEndpoint({ name, routes, failure: found, ...on })
      return { decodePublished: byRoute, content: () => ({}), endpoints: endpointsOf(options, links, endpointOn) }
    }
    const plugin = genuine.only(found)
    const messages = createPluginMessages(plugin, chainNames)
    const decode = createPluginDecode(plugin, messages)
    return {
      decodePublished(bytes) {
        const transfer = byRoute(bytes)
        genuine.add(transfer.digest)
        // If the plug-in fails, the transfer starts anyway, and waits for the plug-in.
        return unlessPluginFails(() => decode(bytes), transfer)
      },
      content: (bytes) => unlessPluginFails(() => messages.about.content(bytes), {}),
      endpoints: endpointsOf(options, links, (on) => {
        const verify = genuine.adding(on.verify)
        return genuine.verifyFirst(createPackageEndpoint(plugin, messages, { ...on, verify }), verify)
      }),
    }
  }
  let last = { found: loaded?.get(name), parts: partsOf(loaded?.get(name)) }
  /** Returns the current parts. A plug-in that could not be loaded at the start may be loaded later. */
  const now = () => {
    const found = loaded?.get(name)
    if (found !== last.found) last = { found, parts: partsOf(found) }
    return last.parts
  }
  signed.own(byRoute, (bytes) => now().decodePublished(bytes))
  return {
    name,
    decode: signed.messages.decode,
    content: (bytes) => now().content(bytes),
    signedBy,
    get endpoints() {
      return now().endpoints
    },
    sources: signedSourcesOf(name, options, links),
  }
}

function unlessPluginFails<T, E>(ask: () => T, otherwise: E): T | E {
  try {
    return ask()
  } catch (error) {
    if (isPluginFailure(error)) return otherwise
    throw error
  }
}

const findNone: FindVaa = async () => ({ kind: 'absent', why: 'this process does not ask guardian APIs' })
const unasked = async () => ({ kind: 'pending', why: 'this process does not ask attestation APIs' }) as const
const noAttestations: AttestationApis = { ofTransaction: unasked, ofHash: unasked, reattest: async () => {} }

type Made = Omit<Required<Config['bridges']>, 'receivers' | 'ntt' | 'plugins'>

/** Does not compile if a bridge of the config is missing. */
const makers: { readonly [Name in keyof Made]: (settings: Made[Name], options: BridgesOptions, links: Links) => Bridge } = {
  'wormhole-token-bridge'(settings, options, links) {
    return ofProduct(tokenBridgeOf(settings, options, links), options, links)
  },
  executor: (_, options, { signed, ...links }) =>
    createExecutorBridge(options, { ...links, verifierOf: signed.verifierOf, signed: signed.messages }),
  cctp: (settings, { chains }, { connected, served, attestations: apis, signed }) =>
    createCctpBridge({ settings, chains, connected, served, apis, isDelivered: signed.messages.isDelivered }),
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
      createNativeEndpoint({ chain, routes: ours.filter(({ targetChain }) => targetChain === name), verified, decimals })
    const [decode, decimalsOf] = [createNativeDecode(all), createTokenDecimals(ours)]
    const decimals = (bytes: Uint8Array) => decimalsOf(decode(bytes))
    return {
      name: nativeBridge,
      decode,
      content: (bytes) => nativeContent(readMessage(bytes)),
      endpoints: new Map([...served].map(([name, chain]) => [name, endpointOn(name, chain)])),
      sources: ours.map((route) => createNativeSource({ ...route, route, verified })),
    }
  },
}

/**
 * Only `served` chains (default: all connected) get endpoints. `connected` must contain the chains of `sourcesOf`.
 * Throws the error of `demandOwnMessages`.
 */
export function createBridges(
  options: BridgesOptions,
  connected: Chains,
  served: Iterable<ChainName> = connected.keys(),
  { loaded, findVaa = findNone, attestations = noAttestations, ...terms }: Partial<Omit<Links, 'connected' | 'served' | 'signed'>> = {},
): Bridges {
  demandOwnMessages(options)
  const names = new Set(served)
  const bridges = new Map<BridgeName, Bridge>()
  const signed = createSigned(options, bridges)
  const own = new Map([...connected].filter(([name]) => names.has(name)))
  const links = { connected, served: own, signed, loaded, findVaa, attestations, ...terms }
  const make = <Name extends keyof Made>(name: Name, settings: Made[Name] | undefined) =>
    settings && bridges.set(name, makers[name](settings, options, links))
  // The first bridge that can read a signed message owns it. The token bridge takes any emitter, so it comes last.
  for (const one of pluginsOf(options)) bridges.set(one.name, ofProduct(one, options, links))
  for (const one of packagesOf(options)) bridges.set(one.name, packageBridge(one, options, links))
  for (const name of Object.keys(makers) as (keyof Made)[]) make(name, options.bridges[name])
  return bridges
}

function createSigned({ chains }: BridgesOptions, bridges: Bridges) {
  const [decodes, publishedDecodes]: [Decode[], Decode[]] = [[], []]
  const verifiers = new Map<ChainName, Verify>()
  const messages: SignedMessages = {
    decode: firstOwner(decodes),
    decodePublished: firstOwner(publishedDecodes),
    async isDelivered(transfer, at) {
      const endpoint = bridges.get(transfer.bridge)?.endpoints.get(transfer.targetChain)
      // A failing plug-in must not stop an emitter's stream, and neither must a message whose signatures cannot be
      // verified yet: the transfer starts, and waits.
      const mayWait = (error: RelayerError) => error.code === 'GUARDIAN_SET_UNKNOWN' || isPluginFailure(error)
      return (endpoint && (await unless(endpoint.delivered(transfer, at), mayWait))) ?? false
    },
  }
  return {
    own(decode: Decode, decodePublished = decode): void {
      decodes.push(decode)
      publishedDecodes.push(decodePublished)
    },
    messages,
    /** One verifier per chain, because it remembers guardian sets and verified messages. */
    verifierOf(name: ChainName, chain: EvmChain) {
      const { core } = wormholeOf(name, chains[name])
      const verify = verifiers.get(name) ?? createVerifier(createGuardianSets(chain, core), () => chainTime(chain))
      verifiers.set(name, verify)
      return verify
    },
  }
}

/** Chains that must be connected for deliveries to `targets`, because unsigned messages are checked at their source. */
export function sourcesOf({ bridges }: Pick<BridgesOptions, 'bridges'>, targets: readonly ChainName[]): readonly ChainName[] {
  const routes = bridges['native-bridge']?.routes ?? []
  const ofLogs = [bridges.executor, bridges.cctp].flatMap((bridge) => {
    const names = Object.keys(bridge?.chains ?? {})
    return targets.some((target) => names.includes(target)) ? names : []
  })
  return [...new Set([...routes.flatMap(({ source, target }) => (targets.includes(target) ? [source] : [])), ...ofLogs])]
}

/** The built-in bridges that deliver signed messages. */
const builtIn = ['receivers', 'ntt', wormholeTokenBridge] as const

function signedSourcesOf(bridge: BridgeName, options: BridgesOptions, links: Links): SignedSource[] {
  return emittersOf(options).flatMap((emitter) => (emitter.bridge === bridge ? sourcesOfEmitter(emitter, options, links) : []))
}

/** Makes the source of an emitter. Returns no source if the emitter's chain is in the config but not served. */
function sourcesOfEmitter(
  end: ConfiguredEmitter,
  options: BridgesOptions,
  { served, signed }: Pick<Links, 'served' | 'signed'>,
): SignedSource[] {
  const { sourceChain } = end
  const { first, startBlock: block, maxOpen } = streamSettings(end, options)
  const owners = [...builtIn.filter((name) => options.bridges[name]), ...packagesOf(options).map(({ name }) => name)]
  const common = { ...end, prefix: prefixOf(end), owners, messages: signed.messages, maxOpen }
  if (!options.chains[sourceChain]) return [createSourceWithoutNode({ ...common, judges: [...served.keys()], begins: { first } })]
  const chain = served.get(sourceChain)
  if (!chain) return []
  const { core } = wormholeOf(sourceChain, options.chains[sourceChain])
  return [createEmitterSource({ ...common, chain, core, begins: { first, block } })]
}
