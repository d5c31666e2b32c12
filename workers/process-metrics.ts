import type { Chain, NodeStatus } from '../chains/port.ts'
import type { LaneId } from '../domain/lane/lane-id.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { ChainName } from '../domain/transfer/transfer.ts'
import type { LaneAgent } from '../lanes/agent.ts'
import type { BatchCounts } from '../lanes/batch/counts.ts'
import { createMetrics } from '../observability/metrics.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Network } from './network.ts'

const laneStates = ['active', 'syncing', 'paused', 'draining', 'forbidden', 'funds', 'replaced'] as const

/**
 * The metrics of a process, with what its chains and lanes count themselves.
 * @param agents may be filled later
 */
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

/** Sets nothing for a lane that has signed no batch. */
function collectBatches(all: Metrics, lane: LaneId, { members, signed, split, ended }: BatchCounts): void {
  for (const [state, count] of ended) all.batchesEnded.inc({ lane, state }, count)
  if (signed > 0) all.batchesSigned.inc({ lane }, signed)
  if (signed > 0) all.batchMembers.inc({ lane }, members)
  if (split > 0) all.batchesSplit.inc({ lane }, split)
}

/** @param seen every node that was shown before, with its use: a node that was removed since counts as down */
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
