import { createApi } from '../api/server.ts'
import { namesOf } from '../config/known-names.ts'
import type { Chain, NodeStatus } from '../chains/port.ts'
import type { Config } from '../config/schema.ts'
import type { LaneId } from '../domain/lane/lane-id.ts'
import type { ChainName } from '../domain/transfer/transfer.ts'
import { createSubmitter } from '../intake/submitter.ts'
import type { LaneAgent } from '../lanes/agent.ts'
import type { BatchCounts } from '../lanes/batch/counts.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { Logger } from '../observability/logger.ts'
import { createMetrics } from '../observability/metrics.ts'
import type { Metrics } from '../observability/metrics.ts'
import { transferDefaults } from './deps.ts'
import type { Network } from './network.ts'
import type { Service } from './service.ts'
import type { Temporal } from './temporal.ts'

/** The REST API of this process; its metrics tell what this process did. */
export async function startApi(options: {
  config: Config
  temporal: Temporal
  network: Network
  settings: () => Settings
  logger: Logger
  metrics: Metrics
  /** Does this process feed the streams, too? */
  feedsStreams: boolean
}): Promise<Service> {
  const { config, temporal, network, settings, logger, metrics, feedsStreams } = options
  const { host, port, requestsPerMinute } = config.api
  const api = await createApi(
    {
      submitter: createSubmitter({ bridges: network.bridges, client: temporal.client, settings, defaults: transferDefaults(config) }),
      bridges: network.bridges,
      client: temporal.client,
      guardianApis: config.bridges['wormhole-token-bridge']?.guardianApis ?? [],
      metrics,
      logger,
      feedsStreams,
      finalizedHeight: (chain) => network.chains.get(chain)?.heads.current?.finalized,
      health: [...network.chains.values()].map((chain) => ({
        name: `chain ${chain.name}`,
        // One that is away holds up nothing but its own transfers.
        vital: false,
        check: async () => {
          if (!chain.heads.current) throw new Error('no block was seen yet')
        },
      })),
    },
    {
      requestsPerMinute,
      known: namesOf(config),
      chainIds: wormholeIds(config),
    },
  )
  await api.listen({ host, port })
  logger.info('the API listens', { host, port })
  return { stop: () => api.close() }
}

/** Wormhole's numbers of the chains that have one, by name. */
function wormholeIds({ chains }: Config): Record<ChainName, number> {
  const ids = Object.entries(chains).flatMap(([name, { wormholeChainId: id }]) => (id === undefined ? [] : [[name, id] as const]))
  return Object.fromEntries(ids)
}

const laneStates = ['active', 'syncing', 'paused', 'draining', 'forbidden', 'funds', 'replaced'] as const

/** The metrics of a process, with what its chains and lanes count themselves. */
export function processMetrics(network: Pick<Network, 'chains'>, agents: readonly LaneAgent[], settings: () => Settings): Metrics {
  const metrics = createMetrics()
  const nodesSeen: Record<ChainName, Map<string, NodeStatus['use']>> = {}
  metrics.onCollect((all) => {
    const { halts, version } = settings()
    all.halts.set({}, halts.length)
    all.settingsVersion.set({}, version)
    const totals = [
      all.rpcCalls,
      all.nodeFailures,
      all.laneExternal,
      all.batchesSigned,
      all.batchMembers,
      all.batchesEnded,
      all.batchesSplit,
    ]
    for (const counter of totals) counter.reset()
    for (const chain of network.chains.values()) {
      for (const [method, calls] of chain.calls) all.rpcCalls.inc({ chain: chain.name, method }, calls)
      collectNodes(all, chain, (nodesSeen[chain.name] ??= new Map()))
      const event = chain.heads.current
      if (!event) continue
      all.headHeight.set({ chain: chain.name }, event.latest.height)
      all.finalizedHeight.set({ chain: chain.name }, event.finalized)
    }
    for (const { lane, view, load, balance, external, atFeeLimit, batchCounts } of agents) {
      collectBatches(all, lane, batchCounts)
      all.laneWaiting.set({ lane }, load.waiting)
      all.laneAtFeeLimit.set({ lane }, atFeeLimit)
      if (balance !== undefined) all.laneBalance.set({ lane }, Number(balance))
      if (!view) continue
      const state = view.closed?.why ?? (view.synced ? 'active' : 'syncing')
      for (const one of laneStates) all.laneState.set({ lane, state: one }, one === state ? 1 : 0)
      all.laneExternal.inc({ lane }, external)
      all.laneInFlight.set({ lane }, view.inFlight)
      all.laneWindow.set({ lane }, view.window)
    }
  })
  return metrics
}

/** Nothing of a lane on which nothing is shared. */
function collectBatches(all: Metrics, lane: LaneId, { members, signed, split, ended }: BatchCounts): void {
  for (const [state, count] of ended) all.batchesEnded.inc({ lane, state }, count)
  if (signed > 0) all.batchesSigned.inc({ lane }, signed)
  if (signed > 0) all.batchMembers.inc({ lane }, members)
  if (split > 0) all.batchesSplit.inc({ lane }, split)
}

/** @param seen every node that was shown before, with its use: one that an operator took out is down */
function collectNodes(all: Metrics, { name: chain, nodes }: Chain, seen: Map<string, NodeStatus['use']>): void {
  for (const [node, use] of seen) all.nodeUp.set({ chain, node, use }, 0)
  for (const { name: node, use, state, lag, latencyMs, failures } of nodes()) {
    seen.set(node, use)
    all.nodeUp.set({ chain, node, use }, state === 'up' ? 1 : 0)
    all.nodeFailures.inc({ chain, node }, failures)
    if (lag !== undefined) all.nodeLag.set({ chain, node }, lag)
    if (latencyMs !== undefined) all.nodeLatency.set({ chain, node }, latencyMs / 1000)
  }
  const readers = nodes().filter(({ use, state }) => (use === 'all' || use === 'read') && state !== 'disabled')
  const up = readers.filter(({ state }) => state === 'up').length
  all.chainQuorum.set({ chain }, up > readers.length / 2 ? 1 : 0)
}
