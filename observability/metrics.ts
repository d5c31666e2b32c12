import { Counter, Gauge, Histogram, Registry } from 'prom-client'

type MetricKind = 'counter' | 'gauge' | 'histogram'

export interface MetricDefinition<Label extends string = string, Kind extends MetricKind = MetricKind> {
  readonly name: string
  readonly kind: Kind
  readonly help: string
  readonly labels: readonly Label[]
  readonly buckets?: readonly number[]
}

type Labels<Label extends string> = Readonly<Record<Label, string | number>>

/** Methods of metrics. `reset` is for totals that are counted elsewhere: a collector resets, and adds the total. */
interface MetricsByKind<Label extends string> {
  readonly counter: { inc(labels: Labels<Label>, by?: number): void; reset(): void }
  readonly gauge: { set(labels: Labels<Label>, value: number): void; inc(labels: Labels<Label>, by?: number): void }
  readonly histogram: { observe(labels: Labels<Label>, value: number): void }
}

const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** Upper bounds in seconds: narrow around one second (block times), up to an hour (slow finality). */
const stepBuckets = [
  0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4, 5, 7.5, 10, 15, 30, 60, 300, 900, 1_800, 3_600,
]

/** The metrics of a process, which counts only its own work. docs/reference/metrics.md is generated from this table. */
export const metricDefinitions = {
  ...define('counter', ['via', 'bridge'], {
    portage_intake_messages_total: 'Received messages by source (`via`: spy or api) and bridge.',
  }),
  ...define('counter', ['via', 'bridge', 'status'], {
    portage_intake_started_total: 'Messages that started a transfer, or (status=known) belong to an existing transfer.',
  }),
  ...define('counter', ['via', 'bridge', 'code'], {
    portage_intake_refused_total: 'Messages that Portage refused before a transfer began, by error code.',
  }),
  ...define('gauge', ['bridge', 'spy'], {
    portage_spy_connected: '1 while the process is subscribed to the guardian spy.',
    portage_spy_paused: '1 while the process does not read from the spy because too many messages of the spy wait.',
    portage_spy_kept: 'Messages of the spy that are being submitted or are waiting.',
    portage_spy_unknown_sets: 'Messages of the spy that wait for an unknown guardian set, at most 200.',
  }),
  ...define('gauge', ['lane'], {
    portage_lane_in_flight: 'Nonces that the ledger has granted and that are not mined yet.',
    portage_lane_nonce_gap: 'Number of nonces from the lowest nonce that is in no block up to the next nonce that the ledger grants.',
    portage_lane_window: 'Limit of nonces in flight.',
    portage_lane_kept_entries: 'Nonces that the ledger keeps: in no block, or in a block that is not final.',
    portage_lane_kept_entries_limit:
      'Limit of nonces that the ledger keeps. At the limit, the lane grants no nonces until some kept nonces are final.',
    portage_lane_balance_wei: "Last balance of the lane's account that this process read, wei.",
    portage_lane_top_up_due:
      '1 while the balance is below the minimum of chains.<name>.topUp. Only lanes that can be topped up automatically have this metric.',
    portage_lane_waiting: 'Calls of this process that wait for a nonce of the lane.',
    portage_lane_at_fee_limit:
      'Nonces of this process that are stuck at the highest allowed fee. Portage sends the attempt with the highest fee again until fees fall or a limit is raised.',
    portage_lane_signing_refused:
      'Nonces of this process whose next attempt the signer refuses (SIGNING_REFUSED). Portage sends the attempt with the highest fee again.',
  }),
  ...define('gauge', ['lane', 'token'], {
    portage_lane_token_balance: 'Last balance of the ERC-20 token that this process read, in the smallest unit of the token.',
    portage_lane_token_minimum:
      'Minimum balance of the token in the config (chains.<name>.watchTokens), in the smallest unit of the token.',
  }),
  ...define('gauge', ['lane', 'window', 'kind'], {
    portage_lane_spent_wei:
      "Amount for which the lane's key signed in the last hour or day, wei. Each nonce counts once, with its most expensive attempt. kind: cost (gas and data fees), payment (coins paid), top-up (coins paid to other lanes).",
    portage_lane_spending_limit_wei:
      'Limit of portage_lane_spent_wei in the config (maxSpendingPerHourWei, maxSpendingPerDayWei, topUp.maxPerDayWei).',
  }),
  ...define('gauge', ['lane', 'state'], { portage_lane_state: '1 for the state of the lane, 0 for all other states.' }),
  ...define('counter', ['lane', 'kind'], {
    portage_lane_raises_total: 'Further attempts for nonces of the lane, by kind: call (a higher fee or more gas), noop (a replacement).',
  }),
  ...define('counter', ['lane'], {
    portage_lane_external_nonces_total: 'Nonces of the lane that transactions from outside Portage used.',
    portage_batches_total: 'Calls for several transfers that this process signed for the lane. `portage lane batches` shows outcomes.',
    portage_batch_members_total: 'Transfers in the calls that portage_batches_total counts.',
    portage_batches_split_total: 'Batches whose simulation reverted. Portage did not send these batches, and tried their halves instead.',
  }),
  ...define('counter', ['lane', 'state'], {
    portage_batches_ended_total:
      'Batches that ended in this process, by state: done, reverted (another relayer delivered a member first), unsent (no nonce, or the nonce was returned), spent (a no-op or an external transaction used the nonce).',
  }),
  ...define('counter', ['chain', 'kind'], {
    portage_quarantines_total:
      'Quarantines (QUARANTINED) after deliveries that reverted, or that every node refused, in spite of a successful simulation. kind: recipient, token (above its hourly loss budget), batch (its transfers are delivered alone). The log has names.',
    portage_losses_wei_total:
      'Cost of deliveries by Portage that failed in spite of a successful simulation, wei: deliveries that reverted in a block, and no-ops in place of deliveries that every node refused. kind: reverted, or outrun (another delivery came first). Each process counts the failures that it sees.',
  }),
  ...define('counter', ['chain', 'method', 'node'], { portage_rpc_calls_total: 'JSON-RPC calls by chain, method and node.' }),
  ...define('gauge', ['chain'], {
    portage_head_height: 'Height of the latest known block.',
    portage_head_age_seconds:
      'Age of the block time that most nodes of the chain have reached. The age grows while the chain or its nodes are stalled.',
    portage_reorg_depth_blocks: 'Depth of the deepest reorg since the process started, blocks. Absent: no reorg.',
    portage_finalized_height: 'Height of the latest final block.',
    portage_chain_quorum:
      '1 while more than half of the nodes that the config names for reads are up. Disabled nodes count as down. 0: no majority is possible, so no block becomes final. A single node is its own majority.',
  }),
  ...define('gauge', ['chain', 'node', 'use'], {
    portage_node_up: '1 if the node is in use; 0 if the node is down, of another network, or disabled.',
  }),
  ...define('gauge', ['chain', 'node'], {
    portage_node_lag_blocks: 'Number of blocks by which the node lags behind the head of the majority. Absent: not compared.',
    portage_node_latency_seconds: "Moving average of the node's answer times.",
  }),
  ...define('counter', ['chain', 'node'], { portage_node_failures_total: 'Failures of the node: no answer, 429 or 5xx.' }),
  ...define(
    'histogram',
    ['chain', 'bridge', 'step'],
    {
      portage_transfer_step_seconds:
        'Time between two steps of transfers to the chain, by the later step: started (since Portage saw the message or, for a native bridge, its final block), admitted, nonce, broadcast (a node has the transaction), included (seen in a block), final (its effect is final). Only first attempts count, in the process of the step.',
    },
    stepBuckets,
  ),
  ...define(
    'histogram',
    ['chain', 'bridge'],
    {
      portage_transfer_seconds:
        'Time from when Portage sees a message (for a native bridge: its final block) until the effect of its delivery by Portage is final.',
    },
    stepBuckets,
  ),
  ...define('counter', ['chain', 'bridge'], {
    portage_fees_earned_wei_total:
      "Value of the fees of delivered transfers, wei of the chain's coin, at the prices of the config (bridges.wormhole-token-bridge.prices). Payments of Executor requests count at the prices of their quotes, and fees of plug-ins as the plug-in says (earned). A transfer of several stages counts once, with the stage that delivers it. The process that saw the final delivery counts its fee.",
    portage_delivery_cost_wei_total:
      "Cost (gas, and the coins that the call carried) of the final transactions that delivered transfers or their stages, wei of the chain's coin. A transfer in a batch counts its share. The process that saw the final transaction counts its cost. If that process crashes before it has reported its step, another process may count the cost and the fee again. The profit is portage_fees_earned_wei_total minus this cost and portage_useless_delivery_cost_wei_total.",
    portage_useless_delivery_cost_wei_total:
      "Cost of the final transactions that delivered nothing (reverted, without an effect, no-ops): gas and, unless they reverted, coins, wei of the chain's coin, for transfers that are delivered later, parked, declined or cancelled. Batches do not count. The process that saw the final transaction counts its cost.",
    portage_shadow_deliveries_total: 'Transfers to a chain in shadow mode that were ready to be sent. A process counts each transfer once.',
    portage_shadow_cost_wei_total:
      "Cost (gas, and the coins of the call) of transfers to a chain in shadow mode, at the market prices when they were first ready, wei of the chain's coin: the amount that the lanes would have paid.",
  }),
  ...define('gauge', ['state'], {
    portage_transfers:
      'Transfers of the namespace by state, counted by Temporal: open transfers, and transfers closed within the retention. state=undone: closed without an outcome. Only processes with the API have this metric, all with the same value.',
  }),
  ...define('gauge', ['code'], {
    portage_transfers_parked:
      'Parked transfers by error code. code=unknown: Portage has not read the code yet (it reads 50 codes per refresh, of the newest 1,000 parked transfers). Only processes with the API have this metric.',
  }),
  ...define('gauge', ['route', 'code'], {
    portage_gate_waiting:
      'Transfers of this process that wait at a closed gate of their bridge (budget, pause, role), by route (bridge:source:target) and error code.',
  }),
  ...define('gauge', ['lane', 'bridge'], {
    portage_lane_unauthorized: "1 while the lane's account lacks a role for this bridge or one of its routes.",
  }),
  ...define('counter', ['route', 'code'], {
    portage_bridge_mismatch_total:
      'Contradictions between the two contracts of a route (bridge:source:target), by error code. Each contradiction halts the route.',
  }),
  ...define('counter', ['chain'], {
    portage_reorgs_total: 'Rollbacks of blocks that this process saw.',
    portage_effects_undone_total:
      'Delivered effects that an audit found undone by reorgs deeper than finality. The audit restarted the transfers of these effects.',
    portage_transfers_reopened_total:
      'Transfers that an audit restarted because they closed without an outcome (failed, terminated, timed out) or made no progress.',
    portage_audits_total: 'Finished audits of deliveries.',
  }),
  ...define('gauge', ['chain'], {
    portage_audit_finished_time_seconds:
      'Time at which this process last finished an audit of deliveries, Unix time. Before the first audit: the start of the process.',
    portage_audit_interval_seconds: 'Time between two audits of deliveries (`audit.everyMinutes` of the config).',
  }),
  ...define('gauge', ['type'], {
    portage_workflows_stuck:
      'Open workflows of the queue ledger whose workflow task fails or times out repeatedly, by type (lane, stream, settings, batch, operatorTransaction, notifier). Only processes with the role ledger have this metric, all with the same value.',
  }),
  ...define('counter', ['type'], {
    portage_workflows_reset_total:
      'Workflows of the queue ledger that this process reset to their beginning, because their history does not replay or their tasks were not answered.',
  }),
  ...define('gauge', ['stream'], {
    portage_stream_cursor_height: 'Last final block that the live scan of the stream has read. Absent for a stream without blocks.',
    portage_stream_lag_blocks: "Blocks between the stream's cursor and the source's finalized head.",
    portage_stream_open: 'Started numbers of the stream that are not resolved, including numbers of parked transfers.',
    portage_stream_parked: 'Open numbers whose transfers are parked. The watermark cannot pass such numbers.',
    portage_stream_oldest_gap_seconds: 'Age of the oldest known gap of the stream. 0: no gaps.',
    portage_stream_completed_nonce_height:
      "MIP-61's completed_nonce_height: every number up to this number is resolved. Absent: no number is resolved.",
    portage_stream_completed_block_height:
      "MIP-61's completed_block_height: no block of the source up to this block can hold an unresolved number. Absent: no block is known.",
    portage_stream_backfill_left_blocks: 'Blocks left for the backfill of the stream.',
    portage_stream_paused: '1 while an operator has paused the stream, otherwise 0.',
    portage_stream_checkpoint_age_seconds:
      'Time since this process last wrote the checkpoint of the stream. Absent: the config has no checkpoints.',
  }),
  ...define('gauge', ['stream', 'state'], {
    portage_stream_gaps:
      'Numbers in gaps, by state (unasked, unstarted, not-final, held, unobserved, hidden, undone). A number in a gap exists, but its transfer was not started or must be started again.',
  }),
  ...define('gauge', ['stream', 'kind'], {
    portage_stream_alarm:
      '1 while the stream raises this alarm (forked, vanished, hidden, unknown-completion, distrusted, and the alarms of its agent), otherwise 0: docs/operate/streams.md.',
  }),
  ...define('counter', ['receiver', 'type'], {
    portage_notifications_sent_total: 'Notifications from this process that the receiver accepted, by type.',
  }),
  ...define('counter', ['receiver', 'kind'], {
    portage_notifications_failed_total:
      'Attempts that the receiver did not accept: refused (by its answer), failed (no answer, or a request to wait), gone (410: the receiver wants no more notifications).',
  }),
  ...define('gauge', ['receiver'], {
    portage_notifications_waiting:
      'Notifications that the receiver has not accepted, and all events while the receiver is disabled. Only processes with the role ledger have this metric, all with the same value.',
    portage_notification_oldest_unsent_seconds:
      'Age of the oldest notification that was not accepted. 0: none. Only processes with the role ledger have this metric, all with the same value.',
  }),
  ...define('gauge', ['receiver', 'why'], {
    portage_notification_receiver_disabled:
      '1 while a receiver is disabled. `why` is gone (the receiver answered 410) or ordered (an operator disabled it). Only processes with the role ledger have this metric.',
  }),
  ...define('gauge', ['role'], {
    portage_process_ready: '1 while GET /readyz of the admin port succeeds, otherwise 0.',
    portage_process_resident_bytes: 'Memory of the process.',
  }),
  ...define('counter', ['role'], { portage_process_cpu_seconds_total: 'CPU time of all threads of the process.' }),
  ...define('gauge', [], {
    portage_halts: 'Halts in force, in the settings that this process read last.',
    portage_settings_version: 'Version of the settings that this process uses. 0: never changed.',
  }),
  ...define('counter', ['route', 'status'], { portage_api_requests_total: 'Requests to the REST API, by route and status.' }),
  ...define('histogram', ['route'], {
    portage_api_request_seconds: 'Time from the first byte of a request to the last byte of its answer.',
  }),
} as const

type Definitions = typeof metricDefinitions
type MetricOf<Definition> = Definition extends MetricDefinition<infer Label, infer Kind> ? MetricsByKind<Label>[Kind] : never
type MetricsByName = { readonly [Name in keyof Definitions]: MetricOf<Definitions[Name]> }

export interface Metrics extends MetricsByName {
  /** Calls `collect` before each rendering, to set values. Returns a function that removes `collect`. */
  onCollect(collect: (metrics: Metrics) => void): () => void
  /** Calls `refresh` before the collectors. `refresh` may send requests for a limited time: the rendering waits. */
  onRefresh(refresh: (metrics: Metrics) => Promise<void>): void
  render(): Promise<string>
}

export function createMetrics(): Metrics {
  const registry = new Registry()
  const refreshes: ((metrics: Metrics) => Promise<void>)[] = []
  const collectors = new Set<(metrics: Metrics) => void>()
  const byName = Object.entries(metricDefinitions).map(([name, definition]) => [name, createMetric(registry, definition)] as const)
  const metrics: Metrics = {
    ...Object.assign({} as MetricsByName, Object.fromEntries(byName)),
    onCollect(collect) {
      collectors.add(collect)
      return () => collectors.delete(collect)
    },
    onRefresh: (refresh) => void refreshes.push(refresh),
    async render() {
      await Promise.allSettled(refreshes.map((refresh) => refresh(metrics)))
      await Promise.allSettled([...collectors].map(async (collect) => collect(metrics)))
      return registry.metrics()
    },
  }
  return metrics
}

function createMetric(registers: Registry, { name, kind, help, labels, buckets: own = buckets }: MetricDefinition) {
  const options = { name, help, labelNames: labels, registers: [registers] }
  if (kind === 'counter') return new Counter(options)
  return kind === 'gauge' ? new Gauge(options) : new Histogram({ ...options, buckets: [...own] })
}

function define<const Kind extends MetricKind, const Label extends string, Name extends string>(
  kind: Kind,
  labels: readonly Label[],
  helps: Readonly<Record<Name, string>>,
  own?: readonly number[],
) {
  const definitions = Object.entries<string>(helps).map(
    ([name, help]) => [name, { name, kind, help, labels, ...(own && { buckets: own }) }] as const,
  )
  return Object.fromEntries(definitions) as Readonly<Record<Name, MetricDefinition<Label, Kind>>>
}
