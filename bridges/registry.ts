import type { EvmChain } from '../chains/evm/index.ts'
import { chainTime } from '../chains/heads.ts'
import type { Config } from '../config/schema/schema.ts'
import { isPluginFailure, RelayerError } from '../domain/catalogue/errors.ts'
import type { TariffRule } from '../domain/settings/tariff.ts'
import type { BridgeName, ChainName } from '../domain/transfer/transfer.ts'
import {
  type BridgesOptions,
  type ConfiguredEmitter,
  emittersOf,
  namesOf,
  packagesOf,
  pluginsOf,
  prefixOf,
  type Settings,
  streamSettings,
  unlessOfOthers,
  wormholeOf,
} from './configured-emitters.ts'
import { createEmitterSource, createSourceWithoutNode, type SignedMessages } from './kit/emitter-sources.ts'
import { createPluginDecode, createPluginEndpoint, createPluginMessages, firstOwner, type Product } from './kit/plugin-bridge.ts'
import type { Plugin } from './kit/plugin.ts'
import type { Decode } from './kit/published.ts'
import { createGuardianSets, createVerifier, signedBy, type Verify } from './kit/signed-messages.ts'
import { createVerifiedMessages } from './kit/verified-messages.ts'
import { createTokenDecimals } from './native-bridge/contracts.ts'
import { createEvmEndpoint as createNativeEndpoint } from './native-bridge/evm.ts'
import { contentOf as nativeContent, createDecode as createNativeDecode, nativeBridge, readMessage } from './native-bridge/message.ts'
import { createNativeSource } from './native-bridge/streams.ts'
import { createPackageEndpoint, createRouteDecode, createRouteEndpoint } from './packages/endpoints.ts'
import type { LoadedPlugins } from './packages/load.ts'
import type { AttestationApis } from './cctp/attest.ts'
import { createCctpBridge } from './cctp/bridge.ts'
import { createExecutorBridge } from './executor-bridge.ts'
import type { FindVaa } from './kit/find-vaa.ts'
import type { Bridge, Bridges, SignedSource } from './port.ts'
import { createAmountDecimals, createTokenBridge, wormholeTokenBridge } from './wormhole-token-bridge/token-bridge.ts'

type Chains = ReadonlyMap<ChainName, EvmChain>

interface Links {
  readonly connected: Chains
  readonly served: Chains
  readonly signed: ReturnType<typeof createSigned>
  readonly loaded?: LoadedPlugins | undefined
  readonly findVaa: FindVaa
  readonly tariff?: (() => readonly TariffRule[]) | undefined
  readonly attestations: AttestationApis
}

/**
 * The built-in bridges, in the order in which they read a message. The first bridge that can read the message owns it.
 */
const signedBridges = ['receivers', 'ntt', 'wormhole-token-bridge'] as const

function pluginBridge(name: BridgeName, options: BridgesOptions, links: Links): Bridge {
  const plugin = pluginsOf(options).find((one) => one.name === name)
  if (!plugin) throw new RelayerError('CONFIG_INVALID', { detail: `bridges.${name} is absent.` })
  return ofProduct(plugin, options, links)
}

function ofProduct<C>(product: Product<C>, options: BridgesOptions, links: Links): Bridge {
  const { served, signed } = links
  const chainNames = namesOf(options)
  const messages = createPluginMessages(product, chainNames)
  const decode = createPluginDecode(product, messages)
  const takesAnyEmitter = product.routes.some(({ from }) => from === 'accepted')
  signed.decodes.push(takesAnyEmitter ? unlessOfOthers(decode, options) : decode)
  const endpoints = [...served].map(([chainName, chain]) => {
    const verify = signed.verifierOf(chainName, chain)
    return [chainName, createPluginEndpoint(product, messages, { chain, clock: () => chainTime(chain), chainNames, verify })] as const
  })
  return {
    name: product.name,
    decode: signed.messages.decode,
    ...messages.about,
    endpoints: new Map(endpoints),
    sources: emittersOf(options).flatMap((emitter) => (emitter.bridge === product.name ? sourcesOfEmitter(emitter, options, links) : [])),
  }
}

function tokenBridgeOf(
  { assets, minimumFees, prices, freeRoutes, calls }: Settings<typeof wormholeTokenBridge>,
  options: BridgesOptions,
  { tariff, connected }: Pick<Links, 'tariff' | 'connected'>,
) {
  const { chains } = options
  const targets = Object.entries(chains).map(([name, chain]) => {
    const { wormholeChainId, tokenBridge } = wormholeOf(name, chain)
    return [name, { wormholeChainId, tokenBridge, minimumFees: minimumFees[name], prices: prices[name], calls: calls[name] }] as const
  })
  const isFree = (from: ChainName, to: ChainName) =>
    freeRoutes.some(({ source, target }) => target === to && (source === undefined || source === from))
  const bridgeOf = (id: number) => {
    const name = namesOf(options).get(id) ?? ''
    const chain = connected.get(name)
    return chain && { chain, tokenBridge: wormholeOf(name, chains[name]).tokenBridge }
  }
  return createTokenBridge({ targets: new Map(targets), assets, isFree, tariff, decimals: createAmountDecimals(bridgeOf) })
}

/** Without `loaded`, the process runs no plug-in code, and knows plug-ins only by their routes in the config. */
function packageBridge({ name, routes }: Pick<Plugin<unknown>, 'name' | 'routes'>, options: BridgesOptions, links: Links): Bridge {
  const { served, signed, loaded } = links
  const chainNames = namesOf(options)
  const found = loaded?.get(name)
  const plugin = found instanceof RelayerError ? undefined : found
  const failure = found instanceof RelayerError ? found : undefined
  const byRoute = createRouteDecode(name, routes, chainNames)
  const messages = plugin && createPluginMessages(plugin, chainNames)
  signed.decodes.push(plugin && messages ? orByRoute(createPluginDecode(plugin, messages), byRoute) : byRoute)
  const endpoints = [...served].map(([chainName, chain]) => {
    const ofChain = { chain, chainNames, verify: signed.verifierOf(chainName, chain) }
    const endpoint =
      plugin && messages
        ? createPackageEndpoint(plugin, messages, { ...ofChain, clock: () => chainTime(chain) })
        : createRouteEndpoint({ name, routes, failure, ...ofChain })
    return [chainName, endpoint] as const
  })
  return {
    name,
    decode: signed.messages.decode,
    content: (bytes) => (messages ? unlessPluginFails(() => messages.about.content(bytes), {}) : {}),
    signedBy,
    endpoints: new Map(endpoints),
    sources: emittersOf(options).flatMap((emitter) => (emitter.bridge === name ? sourcesOfEmitter(emitter, options, links) : [])),
  }
}

/** A message on which the plug-in fails still belongs to the plug-in, so its transfer waits and is not lost. */
function orByRoute(decode: Decode, byRoute: Decode): Decode {
  return (message) => unlessPluginFails(() => decode(message), undefined) ?? byRoute(message)
}

function unlessPluginFails<T, E>(ask: () => T, otherwise: E): T | E {
  try {
    return ask()
  } catch (error) {
    if (isPluginFailure(error)) return otherwise
    throw error
  }
}

const findNone: FindVaa = async () => ({ kind: 'absent', why: 'this process asks no guardian API' })
const unasked = async () => ({ kind: 'pending', why: 'this process asks no attestation API' }) as const
const noAttestations: AttestationApis = { ofTransaction: unasked, ofHash: unasked, reattest: async () => {} }

/** Does not compile if a bridge of the config is missing. */
const makers: {
  readonly [Name in keyof Omit<Required<Config['bridges']>, 'plugins'>]: (
    settings: Settings<Name>,
    options: BridgesOptions,
    links: Links,
  ) => Bridge
} = {
  receivers: (_, options, links) => pluginBridge('receivers', options, links),
  ntt: (_, options, links) => pluginBridge('ntt', options, links),
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

/** `connected` must contain the chains of `sourcesOf`. Only `served` chains get endpoints (default: all). */
export function createBridges(
  options: BridgesOptions,
  connected: Chains,
  served: Iterable<ChainName> = connected.keys(),
  { loaded, findVaa = findNone, attestations = noAttestations, tariff }: Partial<Omit<Links, 'connected' | 'served' | 'signed'>> = {},
): Bridges {
  const names = new Set(served)
  const bridges = new Map<BridgeName, Bridge>()
  const signed = createSigned(options, bridges)
  const own = new Map([...connected].filter(([name]) => names.has(name)))
  const links = { connected, served: own, signed, loaded, findVaa, attestations, tariff }
  const make = <Name extends keyof typeof makers>(name: Name, settings: Config['bridges'][Name]) =>
    settings && bridges.set(name, makers[name](settings, options, links))
  // Plug-ins read a message after the built-in products and before the token bridge.
  for (const name of Object.keys(makers) as (keyof typeof makers)[]) {
    if (name === wormholeTokenBridge) for (const one of packagesOf(options)) bridges.set(one.name, packageBridge(one, options, links))
    make(name, options.bridges[name])
  }
  return bridges
}

function createSigned({ chains }: BridgesOptions, bridges: Bridges) {
  const decodes: Decode[] = []
  const verifiers = new Map<ChainName, Verify>()
  const messages: SignedMessages = {
    decode: firstOwner(decodes),
    async isDelivered(transfer, at) {
      try {
        return (await bridges.get(transfer.bridge)?.endpoints.get(transfer.targetChain)?.delivered(transfer, at)) ?? false
      } catch (error) {
        // A failing plug-in must not stop the emitter's stream: its transfer starts and waits for the plug-in.
        if (isPluginFailure(error)) return false
        throw error
      }
    },
  }
  return {
    decodes,
    messages,
    /** Keeps one verifier per chain, because it remembers guardian sets and verified messages. */
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

/** Returns no source if the emitter's chain has a node but is not served. */
function sourcesOfEmitter(
  end: ConfiguredEmitter,
  options: BridgesOptions,
  { served, signed }: Pick<Links, 'served' | 'signed'>,
): SignedSource[] {
  const { sourceChain } = end
  const { first, startBlock: block, maxOpen } = streamSettings(end, options)
  const owners = [...signedBridges.filter((name) => options.bridges[name]), ...packagesOf(options).map(({ name }) => name)]
  const common = { ...end, prefix: prefixOf(end), owners, messages: signed.messages, maxOpen }
  if (!options.chains[sourceChain]) return [createSourceWithoutNode({ ...common, judges: [...served.keys()], begins: { first } })]
  const chain = served.get(sourceChain)
  if (!chain) return []
  const { core } = wormholeOf(sourceChain, options.chains[sourceChain])
  return [createEmitterSource({ ...common, chain, core, begins: { first, block } })]
}
