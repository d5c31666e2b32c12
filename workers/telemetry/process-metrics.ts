import { votersOf } from '../../chains/heads.ts'
import type { Chain, NodeStatus } from '../../chains/port.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import { createMetrics, type Metrics } from '../../observability/metrics.ts'

const laneStates = ['active', 'syncing', 'paused', 'draining', 'forbidden', 'funds', 'replaced'] as const

export function processMetrics(
  network: { readonly chains: ReadonlyMap<ChainName, Chain> },
  agents: readonly LaneAgent[],
  settings: () => Settings,
  metrics: Metrics = createMetrics(),
): Metrics {
  const nodesSeen: Record<ChainName, Map<string, NodeStatus['use']>> = {}
  for (const chain of network.chains.values()) countReorgs(metrics, chain)
  metrics.onCollect((all) => {
    const { halts, version } = settings()
    all.portage_halts.set({}, halts.length)
    all.portage_settings_version.set({}, version)
    for (const total of totals) all[total].reset()
    for (const chain of network.chains.values()) {
      collectNodes(all, chain, (nodesSeen[chain.name] ??= new Map()))
      collectHeads(all, chain)
    }
    for (const agent of agents) collectLane(all, agent)
  })
  return metrics
}

const totals = [
  'portage_rpc_calls_total',
  'portage_node_failures_total',
  'portage_lane_external_nonces_total',
  'portage_lane_raises_total',
  'portage_batches_total',
  'portage_batch_members_total',
  'portage_batches_ended_total',
  'portage_batches_split_total',
] as const

function collectHeads(all: Metrics, { name: chain, heads: { current } }: Chain): void {
  if (!current) return
  all.portage_head_height.set({ chain }, current.latest.height)
  if (current.time !== undefined) all.portage_head_age_seconds.set({ chain }, Math.max(0, Date.now() / 1_000 - current.time))
  all.portage_finalized_height.set({ chain }, current.finalized)
}

function collectLane(all: Metrics, agent: LaneAgent): void {
  const { lane, view, load, balance, external, atFeeLimit, signingRefused, spending, batchCounts, raises, tokens } = agent
  const { members, signed, split, ended } = batchCounts
  for (const [state, count] of ended) all.portage_batches_ended_total.inc({ lane, state }, count)
  if (signed > 0) all.portage_batches_total.inc({ lane }, signed)
  if (signed > 0) all.portage_batch_members_total.inc({ lane }, members)
  if (split > 0) all.portage_batches_split_total.inc({ lane }, split)
  for (const [kind, count] of Object.entries(raises)) all.portage_lane_raises_total.inc({ lane, kind }, count)
  all.portage_lane_waiting.set({ lane }, load.waiting)
  all.portage_lane_at_fee_limit.set({ lane }, atFeeLimit)
  all.portage_lane_signing_refused.set({ lane }, signingRefused)
  for (const { kind, window, spent, limit } of spending) {
    all.portage_lane_spent_wei.set({ lane, window, kind }, Number(spent))
    all.portage_lane_spending_limit_wei.set({ lane, window, kind }, Number(limit))
  }
  if (balance !== undefined) all.portage_lane_balance_wei.set({ lane }, Number(balance))
  for (const { token, balance: units, minimum } of tokens) {
    all.portage_lane_token_balance.set({ lane, token }, Number(units))
    if (minimum !== undefined) all.portage_lane_token_minimum.set({ lane, token }, Number(minimum))
  }
  if (!view) return
  const state = view.closed?.why ?? (view.synced ? 'active' : 'syncing')
  for (const one of laneStates) all.portage_lane_state.set({ lane, state: one }, one === state ? 1 : 0)
  all.portage_lane_external_nonces_total.inc({ lane }, external)
  all.portage_lane_in_flight.set({ lane }, view.inFlight)
  all.portage_lane_window.set({ lane }, view.window)
  all.portage_lane_nonce_gap.set({ lane }, Math.max(0, view.next - view.latest))
  all.portage_lane_kept_entries.set({ lane }, view.kept)
  all.portage_lane_kept_entries_limit.set({ lane }, view.keptLimit)
}

function countReorgs(metrics: Metrics, { name: chain, heads }: Pick<Chain, 'name' | 'heads'>): void {
  let deepest = 0
  heads.subscribe(({ rolledBack }) => {
    if (rolledBack.length === 0) return
    deepest = Math.max(deepest, rolledBack.length)
    metrics.portage_reorgs_total.inc({ chain })
    metrics.portage_reorg_depth_blocks.set({ chain }, deepest)
  })
}

/** @param seen nodes of earlier calls with their use. A node that has been removed is reported as down */
function collectNodes(all: Metrics, { name: chain, nodes, callsByNode }: Chain, seen: Map<string, NodeStatus['use']>): void {
  for (const [node, counts] of callsByNode) {
    for (const [method, calls] of counts) all.portage_rpc_calls_total.inc({ chain, method, node }, calls)
  }
  for (const [node, use] of seen) all.portage_node_up.set({ chain, node, use }, 0)
  for (const { name: node, use, state, lag, latencyMs, failures } of nodes()) {
    seen.set(node, use)
    all.portage_node_up.set({ chain, node, use }, state === 'up' ? 1 : 0)
    all.portage_node_failures_total.inc({ chain, node }, failures)
    if (lag !== undefined) all.portage_node_lag_blocks.set({ chain, node }, lag)
    if (latencyMs !== undefined) all.portage_node_latency_seconds.set({ chain, node }, latencyMs / 1000)
  }
  const readers = votersOf(nodes())
  const up = readers.filter(({ state }) => state === 'up').length
  all.portage_chain_quorum.set({ chain }, up > readers.length / 2 ? 1 : 0)
}
