import type { Bridges, PriceOf } from '../../bridges/port.ts'
import { pluginContext, signedApis } from '../../bridges/configured-emitters.ts'
import { type LoadedPlugins, loadPlugins } from '../../bridges/packages/load.ts'
import { createBridges, sourcesOf } from '../../bridges/registry.ts'
import type { Chain } from '../../chains/port.ts'
import { chainFamilies, type ConfiguredChain } from '../../chains/registry.ts'
import { chainOf, nodeVariables } from '../../config/chains.ts'
import { expectedPrices } from '../../config/prices.ts'
import type { ChainConfig, Config } from '../../config/schema/schema.ts'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import type { NodeChange } from '../../domain/settings/settings.ts'
import type { TariffRule } from '../../domain/settings/tariff.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import { createIris } from '../../intake/submit/iris.ts'
import { createFindVaa, createVaaLookup, type VaaLookup } from '../../intake/submit/vaa-lookup.ts'
import type { Logger } from '../../observability/logger.ts'
import { createPriceFeed } from '../../operations/prices/price-feed.ts'
import type { SettingsWatch } from '../../temporal/client/settings/settings-watch.ts'
import { isDeepStrictEqual } from 'node:util'
import { problemOf } from '../../observability/severity.ts'

export interface Network {
  /** The served chains, the chains that deliveries to them need (`sourcesOf`), and the chains of oracles. */
  readonly chains: ReadonlyMap<ChainName, ConfiguredChain>
  readonly served: readonly ChainName[]
  /** Those of `chains` that are only read for their oracles. A process starts, and is ready, without them. */
  readonly oracles?: ReadonlySet<ChainName>
  readonly bridges: Bridges
  /** One per process, because the lookup limits the requests to each server. */
  readonly vaaLookup: VaaLookup
  /** Absent without `priceFeed` in the config. */
  readonly priceOf?: PriceOf | undefined
  close(): void
}

interface NetworkOptions {
  readonly only?: readonly ChainName[] | undefined
  readonly stopping?: AbortSignal
  /** Called for each unreachable chain, if at least one connects. Absent: all chains but `oracles` must connect. */
  readonly onAway?: (chain: Chain, closing: AbortSignal) => void
  readonly logger?: Logger
  /** Whether the config's plug-ins are loaded. Never true in a process with a key. */
  readonly runsPlugins?: boolean
  /** Operators' rules, which override those of the config. Absent: none. */
  readonly tariff?: () => readonly TariffRule[]
}

/**
 * Connects chains and bridges. Throws CHAIN_ID_MISMATCH, INPUT_INVALID, and NODE_UNAVAILABLE (with `onAway`, only if
 * all chains fail). Failures of `oracles` are not thrown.
 */
export async function connectNetwork(
  config: Config,
  { only, stopping, onAway, logger, runsPlugins = false, tariff }: NetworkOptions = {},
): Promise<Network> {
  const served = [...new Set(only ?? Object.keys(config.chains))]
  const needed = new Set([...served, ...sourcesOf(config, served)])
  const oracleChains = (config.priceFeed?.sources ?? []).flatMap((source) => (source.kind === 'oracle' ? [source.chain] : []))
  const oracles = new Set(oracleChains.filter((name) => !needed.has(name)))
  const names = [...needed, ...oracles]
  const chains = new Map(names.map((name) => [name, buildChain(name, chainOf(config, name), logger)] as const))
  const closing = new AbortController()
  const close = () => {
    closing.abort()
    for (const chain of chains.values()) chain.close()
  }
  stopping?.addEventListener('abort', close)
  try {
    const away = new Map<Chain, RelayerError>()
    const connect = (chain: Chain) => chain.connect().catch((error: unknown) => void away.set(chain, toRelayerError(error)))
    await Promise.all([...chains.values()].map(connect))
    const errors = [...away].flatMap(([{ name }, error]) => (oracles.has(name) ? [] : [error]))
    const fatal =
      errors.find(({ code }) => !onAway || code !== 'NODE_UNAVAILABLE') ?? (errors.length === needed.size ? errors[0] : undefined)
    if (fatal) throw fatal
    const loaded = runsPlugins ? await readPlugins(config, closing.signal, logger) : undefined
    const vaaLookup = createVaaLookup(signedApis(config))
    const { cctp } = config.bridges
    const readerOf = (name: ChainName) => chains.get(name)
    const priceOf = config.priceFeed && createPriceFeed(config.priceFeed, { expected: expectedPrices(config), readerOf })
    const bridges = createBridges(config, chains, served, {
      loaded,
      findVaa: createFindVaa(vaaLookup),
      tariff,
      priceOf,
      ...(cctp && { attestations: createIris({ urls: cctp.attestationApis, perSecond: cctp.requestsPerSecond }) }),
    })
    for (const chain of away.keys()) onAway?.(chain, closing.signal)
    return { chains, served, oracles, bridges, vaaLookup, priceOf, close }
  } catch (error) {
    close()
    throw error
  } finally {
    stopping?.removeEventListener('abort', close)
  }
}

async function readPlugins(config: Config, closing: AbortSignal, logger?: Logger): Promise<LoadedPlugins | undefined> {
  const { plugins } = config.bridges
  if (!plugins) return undefined
  return loadPlugins(plugins, pluginContext(config), {
    closing,
    onLoaded(plugin, one) {
      if (one instanceof RelayerError) logger?.error('a plug-in is not loaded: its messages wait', { plugin, ...problemOf(one) })
      else logger?.info('a plug-in is loaded', { plugin, sha256: plugins[plugin]?.sha256 })
    },
  })
}

/** Throws CONFIG_INVALID if a source chain, whose table proves deliveries to the target, is not connected. */
export function demandSources({ config, network }: { config: Config; network: Pick<Network, 'chains'> }, target: ChainName): void {
  const missing = sourcesOf(config, [target]).filter((source) => !network.chains.has(source))
  if (missing.length === 0) return
  const detail = `A process with a lane on ${target} must read ${missing.join(', ')}, where transfers to ${target} start, but is not connected.`
  throw new RelayerError('CONFIG_INVALID', { detail })
}

function buildChain(name: ChainName, chain: ChainConfig, log: Logger | undefined) {
  const { family, networkId, nodes, send, errors, finality, blockTimeMs, feeModel, feeHistory } = chain
  const environment = nodeVariables(chain, process.env)
  const { createChain } = chainFamilies[family]
  return createChain({ name, networkId, nodes, send, errors, finality, blockTimeMs, feeModel, feeHistory, environment, log })
}

export function applyNodeChanges(watch: SettingsWatch, chains: Network['chains'], logger: Logger): void {
  let applied: readonly NodeChange[] = []
  watch.subscribe(({ nodes }) => {
    for (const [name, chain] of chains) {
      const ofChain = (list: readonly NodeChange[]) => list.filter((change) => change.chain === name)
      const changes = ofChain(nodes)
      if (isDeepStrictEqual(changes, ofChain(applied))) continue
      try {
        chain.adjustNodes(changes)
        logger.info('nodes changed', { chain: name, nodes: changes.map((change) => change.name).join(', ') || 'as configured' })
      } catch (error) {
        logger.error('nodes could not be changed', { chain: name, ...problemOf(error) })
      }
    }
    applied = nodes
  })
}
