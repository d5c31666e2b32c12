import { RelayerError } from '../domain/catalogue/errors.ts'
import { defined } from '../domain/defined.ts'
import type { FeeDefaults, FeeRule } from '../domain/fees/fees.ts'
import { laneAddress, laneId, type LaneId } from '../domain/lane/lane.ts'
import type { KnownNames } from '../domain/settings/known-names.ts'
import type { NodeUse } from '../domain/settings/settings.ts'
import type { ChainName } from '../domain/transfer/transfer.ts'
import type { ChainConfig, Config, LaneSettings } from './schema/schema.ts'
import type { OrderSubject } from '../domain/access.ts'
import { forms } from '../domain/text/forms.ts'
import { isShort, isShortFor } from '../domain/text/short-id.ts'

export function chainOf(config: Pick<Config, 'chains'>, name: ChainName): ChainConfig {
  const chain = Object.hasOwn(config.chains, name) ? config.chains[name] : undefined
  if (!chain) {
    throw new RelayerError('INPUT_INVALID', { detail: `no chain is called ${name}; there are: ${Object.keys(config.chains).join(', ')}` })
  }
  return chain
}

/** Returns the named chain, or all chains if `name` is undefined. Throws INPUT_INVALID. */
export function auditedChains(config: Pick<Config, 'chains'>, name: ChainName | undefined): ChainName[] {
  if (name === undefined) return Object.keys(config.chains)
  chainOf(config, name)
  return [name]
}

export function idOf(chain: ChainConfig, address: string): LaneId {
  return laneId(chain.family, chain.networkId, address)
}

/** Returns all lanes but those of chains in shadow mode, because no process serves such lanes. */
export function lanesOf(config: Pick<Config, 'chains'>) {
  return Object.entries(config.chains).flatMap(([chain, settings]) =>
    settings.shadow ? [] : settings.lanes.map((lane) => ({ id: idOf(settings, lane.address), chain, lane })),
  )
}

/** The lanes and receivers in the config, whose workflows keep orders. */
export function orderedNames({ chains, notifications }: Pick<Config, 'chains' | 'notifications'>) {
  return { lanes: lanesOf({ chains }).map(({ id }) => id), receivers: notifications.map(({ name }) => name) }
}

export function chainsOfLanes(config: Pick<Config, 'chains'>): ReadonlyMap<LaneId, ChainName> {
  return new Map(lanesOf(config).map(({ id, chain }) => [id, chain]))
}

/** Names of bridges as they appear in transfers. */
export function bridgeNames({ plugins = {}, ...bridges }: Config['bridges']): string[] {
  return [...Object.keys(bridges), ...Object.keys(plugins)]
}

export function namesOf({ bridges, chains }: Pick<Config, 'bridges' | 'chains'>): KnownNames {
  const ofChains = <Value>(read: (chain: ChainConfig) => Value) =>
    Object.fromEntries(Object.entries(chains).map(([name, chain]) => [name, read(chain)]))
  const nodesThat = (counts: (use: NodeUse) => boolean) =>
    ofChains(({ nodes }) => nodes.flatMap(({ name, use }, index) => (counts(use) ? [name ?? `node-${index + 1}`] : [])))
  return {
    bridges: bridgeNames(bridges),
    nodes: nodesThat(() => true),
    voters: nodesThat((use) => use === 'all' || use === 'read'),
    networkIds: Object.values(chains).map(({ networkId }) => networkId),
    wormholeChainIds: defined(ofChains(({ wormholeChainId }) => wormholeChainId)) as Record<string, number>,
    lanes: lanesOf({ chains }).map(({ id }) => id),
  }
}

export function configRules(config: Config): FeeRule[] {
  const rules: FeeRule[] = config.fees ? [{ scope: { kind: 'global' }, policy: config.fees }] : []
  for (const [chain, settings] of Object.entries(config.chains)) {
    if (settings.fees) rules.push({ scope: { kind: 'chain', chain }, policy: settings.fees })
    for (const [contract, calls] of Object.entries(settings.callFees)) {
      for (const [selector, policy] of Object.entries(calls)) {
        const scope = { kind: 'call' as const, chain, contract }
        rules.push({ scope: selector === '*' ? scope : { ...scope, selector }, policy })
      }
    }
    for (const lane of settings.lanes) {
      if (lane.fees) rules.push({ scope: { kind: 'lane', lane: idOf(settings, lane.address) }, policy: lane.fees })
    }
  }
  return rules
}

/**
 * Factor of the default gas limit on Arbitrum, where gas includes the data fee. A unit of gas there costs only a
 * hundredth of Ethereum's price.
 */
const arbitrumGasFactor = 10

export function feeDefaults(config: Config): FeeDefaults {
  const arbitrum = Object.entries(config.chains).filter(([, { feeModel }]) => feeModel === 'arbitrum')
  const gasFactors = new Map(arbitrum.map(([name]) => [name, arbitrumGasFactor]))
  return { rules: configRules(config), maxGas: config.transfers.maxGas, gasFactors }
}

/**
 * Variables for URLs of nodes that are added later. Only the config may list them, because the nodes' hosts get the
 * values.
 */
export function nodeVariables(
  { urlVariables }: Pick<ChainConfig, 'urlVariables'>,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  return Object.fromEntries(urlVariables.map((variable) => [variable, env[variable]]))
}

/** The limits of the lane override the limits of the chain. Numbers are decimal strings. */
export function signingLimits({ signing: ofChain }: Pick<ChainConfig, 'signing'>, { signing: ofLane }: Pick<LaneSettings, 'signing'> = {}) {
  const limits = { ...ofChain, ...ofLane }
  return { ...limits, maxGasPerTransaction: String(limits.maxGasPerTransaction) }
}

/** Returns the name and the ids of each chain whose name, network id or Wormhole chain id is `given`. */
export function sourceIdsOf({ chains }: Pick<Config, 'chains'>, given: string): readonly string[] {
  return Object.entries(chains).flatMap(([name, { networkId, wormholeChainId }]) => {
    const ids = [name, String(networkId), ...(wormholeChainId === undefined ? [] : [String(wormholeChainId)])]
    return ids.includes(given) ? ids : []
  })
}

/**
 * The id of the named lane. Only a full id may name a lane outside the config. Throws LANE_NOT_FOUND, INPUT_INVALID.
 */
export function resolveLane(config: Pick<Config, 'chains'>, name: string, chain?: string): LaneId {
  if (forms.lane.pattern.test(name)) {
    const lane = name.toLowerCase()
    if (chain === undefined || idOf(chainOf(config, chain), laneAddress(lane)) === lane) return lane
    throw new RelayerError('LANE_NOT_FOUND', { detail: `It is not a lane of ${chain}.`, facts: { lane, chain } })
  }
  const isNamed = (whole: string) => (isShort(name) ? isShortFor(name, whole) : whole === name.toLowerCase())
  const named = lanesOf(config).filter(({ id, lane }) => isNamed(lane.address) || isNamed(id))
  const lanes = named.filter((row) => chain === undefined || row.chain === chain).map(({ id }) => id)
  return theOnlyLane(lanes, { lane: name, chain })
}

/** Throws LANE_NOT_FOUND unless the list has exactly one lane. */
export function theOnlyLane(lanes: readonly LaneId[], about: { readonly lane: string; readonly chain: string | undefined }): LaneId {
  const [one, ...more] = new Set(lanes)
  if (one !== undefined && more.length === 0) return one
  const detail = one === undefined ? undefined : `Several lanes have this name: ${[one, ...more].join(', ')}.`
  throw new RelayerError('LANE_NOT_FOUND', { detail, facts: about })
}

export function aboutLane(config: Pick<Config, 'chains'>, lane: LaneId): OrderSubject {
  const found = lanesOf(config).find(({ id }) => id === lane)
  return { lane, chains: found && [found.chain] }
}
