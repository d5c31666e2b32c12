import { Counter, Gauge, Histogram, Registry } from 'prom-client'

type MetricKind = 'counter' | 'gauge' | 'histogram'

export interface MetricDefinition<Label extends string = string, Kind extends MetricKind = MetricKind> {
  readonly name: string
  readonly kind: Kind
  readonly help: string
  readonly labels: readonly Label[]
  /** Upper bounds of a histogram's buckets, ascending, without +Inf. */
  readonly buckets?: readonly number[] | undefined
}

type Labels<Label extends string> = Readonly<Record<Label, string | number>>

interface CounterMetric<Label extends string> {
  inc(labels: Labels<Label>, by?: number): void
  /** Before totals that another object counted are added anew. */
  reset(): void
}

interface GaugeMetric<Label extends string> {
  set(labels: Labels<Label>, value: number): void
  inc(labels: Labels<Label>, by?: number): void
}

interface HistogramMetric<Label extends string> {
  observe(labels: Labels<Label>, value: number): void
}

/**
 * All metrics, in the order of a transfer's journey: it is submitted (intake), takes a nonce of a lane, is sent through RPC calls, waits for heads, and ends
 * with an outcome. A process counts what it did itself; sums over processes are those of the fleet. docs/metrics.md is generated from this table.
 */
export const metricDefinitions = {
  intakeReceived: define('portage_intake_messages_total', 'counter', 'Messages that came in, by source (`via`: spy or api) and bridge.', [
    'via',
    'bridge',
  ]),
  intakeStarted: define('portage_intake_started_total', 'counter', 'Messages that became a transfer, or (status=known) already were one.', [
    'via',
    'bridge',
    'status',
  ]),
  intakeRefused: define('portage_intake_refused_total', 'counter', 'Messages that were refused before an id was taken, by error code.', [
    'via',
    'bridge',
    'code',
  ]),
  laneInFlight: define('portage_lane_in_flight', 'gauge', 'Nonces that are granted and not yet mined, by the ledger.', ['lane']),
  laneWindow: define('portage_lane_window', 'gauge', 'The most nonces that the lane lets be in flight.', ['lane']),
  laneState: define('portage_lane_state', 'gauge', '1 for the state that the lane is in, 0 for the others.', ['lane', 'state']),
  laneBalance: define('portage_lane_balance_wei', 'gauge', 'Balance of the account of the lane, wei, as this process last read it.', [
    'lane',
  ]),
  laneExternal: define(
    'portage_lane_external_nonces_total',
    'counter',
    'Nonces of the account that a transaction from outside Portage used.',
    ['lane'],
  ),
  laneWaiting: define('portage_lane_waiting', 'gauge', 'Calls that wait in this process for a nonce of the lane.', ['lane']),
  laneAtFeeLimit: define(
    'portage_lane_at_fee_limit',
    'gauge',
    'Nonces of this process that are stuck at the highest fee that the limits allow; the best attempt is sent again until fees fall or a limit is raised.',
    ['lane'],
  ),
  batchesSigned: define(
    'portage_batches_total',
    'counter',
    'Calls for several transfers that this process signed for the lane. The outcome of each: portage lane batches.',
    ['lane'],
  ),
  batchMembers: define(
    'portage_batch_members_total',
    'counter',
    'Transfers in the calls that portage_batches_total counts: divided by it, the members of a batch.',
    ['lane'],
  ),
  batchesEnded: define(
    'portage_batches_ended_total',
    'counter',
    'Batches that ended in this process, by state: done, reverted (another relayer delivered one of the transfers first), unsent (no nonce was granted, or it was given back), spent (the nonce was used by a no-op or by an external transaction).',
    ['lane', 'state'],
  ),
  batchesSplit: define(
    'portage_batches_split_total',
    'counter',
    'Batches whose simulation reverted, so that their members were tried in halves: nothing was sent.',
    ['lane'],
  ),
  rpcCalls: define('portage_rpc_calls_total', 'counter', 'JSON-RPC calls by chain and method.', ['chain', 'method']),
  headHeight: define('portage_head_height', 'gauge', 'Height of the latest block that the head tracker saw.', ['chain']),
  finalizedHeight: define('portage_finalized_height', 'gauge', 'Height at and below which blocks are final.', ['chain']),
  chainQuorum: define(
    'portage_chain_quorum',
    'gauge',
    '1 while more than half of the nodes that read (those that are not disabled) are up. 0: nothing becomes final, and no verdict that needs a majority is given. The only node of a chain is its own majority.',
    ['chain'],
  ),
  nodeUp: define('portage_node_up', 'gauge', '1 if the node is in use; 0 if it is down, of another network, or disabled.', [
    'chain',
    'node',
    'use',
  ]),
  nodeLag: define('portage_node_lag_blocks', 'gauge', 'Blocks behind the best node of the chain, where it was compared.', [
    'chain',
    'node',
  ]),
  nodeLatency: define('portage_node_latency_seconds', 'gauge', 'Moving average of the times that the node took to answer.', [
    'chain',
    'node',
  ]),
  nodeFailures: define('portage_node_failures_total', 'counter', 'Times that the node failed: no answer, 429 or 5xx.', ['chain', 'node']),
  transfers: define(
    'portage_transfers',
    'gauge',
    'All transfers of the namespace by state, as Temporal counts them: open ones, and closed ones until their retention ends. state=undone: closed without an outcome. Only from the API; the same in each of its processes.',
    ['state'],
  ),
  gateWaiting: define(
    'portage_gate_waiting',
    'gauge',
    'Transfers that this process knows to wait at a closed gate of their bridge (budget, pause, role), by route (bridge:source:target) and error code.',
    ['route', 'code'],
  ),
  laneUnauthorized: define(
    'portage_lane_unauthorized',
    'gauge',
    '1 while the account of the lane lacks a role that this bridge, or one of its routes, requires on its chain.',
    ['lane', 'bridge'],
  ),
  bridgeMismatches: define(
    'portage_bridge_mismatch_total',
    'counter',
    'Contradictions between the two contracts of a route (bridge:source:target), by error code. Each halted the route.',
    ['route', 'code'],
  ),
  effectsUndone: define(
    'portage_effects_undone_total',
    'counter',
    'Delivered effects that an audit found gone: reorgs deeper than finality. Their transfers were started again.',
    ['chain'],
  ),
  transfersReopened: define(
    'portage_transfers_reopened_total',
    'counter',
    'Transfers that were closed without an outcome (failed, terminated, timed out), or made no progress, and that an audit started again.',
    ['chain'],
  ),
  auditsDone: define('portage_audits_total', 'counter', 'Audits of what was delivered that this process finished.', ['chain']),
  workflowsStuck: define(
    'portage_workflows_stuck',
    'gauge',
    'Open workflows of the queue ledger, by type (lane, stream, settings, batch, operatorTransaction), whose workflow task fails or times out repeatedly. Only from processes with the role ledger; the same in each of them.',
    ['type'],
  ),
  workflowsReset: define(
    'portage_workflows_reset_total',
    'counter',
    'Workflows of the queue ledger that this process reset to their beginning, because their history does not replay, or their tasks were not answered.',
    ['type'],
  ),
  streamCursor: define(
    'portage_stream_cursor_height',
    'gauge',
    'Last final block of the source that the live scan of the stream has read; absent for a stream without blocks.',
    ['stream'],
  ),
  streamLag: define(
    'portage_stream_lag_blocks',
    'gauge',
    "Blocks that the stream's cursor is behind the source's finalized head, as this process sees it.",
    ['stream'],
  ),
  streamOpen: define(
    'portage_stream_open',
    'gauge',
    'Numbers of the stream that were started and are not resolved, parked ones included.',
    ['stream'],
  ),
  streamParked: define('portage_stream_parked', 'gauge', 'Open numbers whose transfers are parked: the watermark cannot pass them.', [
    'stream',
  ]),
  streamGaps: define(
    'portage_stream_gaps',
    'gauge',
    'Numbers in gaps by state (not-final, held, unobserved, hidden, undone): known to exist, and not seen or to be started again.',
    ['stream', 'state'],
  ),
  streamOldestGap: define('portage_stream_oldest_gap_seconds', 'gauge', 'Age of the oldest known gap of the stream; 0 without gaps.', [
    'stream',
  ]),
  streamCompletedNumber: define(
    'portage_stream_completed_nonce_height',
    'gauge',
    "MIP-61's completed_nonce_height: every number up to it is resolved. Absent: none yet.",
    ['stream'],
  ),
  streamCompletedHeight: define(
    'portage_stream_completed_block_height',
    'gauge',
    "MIP-61's completed_block_height: no block of the source up to it can hold an unresolved number. Absent: none yet.",
    ['stream'],
  ),
  streamBackfillLeft: define('portage_stream_backfill_left_blocks', 'gauge', 'Blocks that a backfill of the stream has yet to read.', [
    'stream',
  ]),
  streamAlarm: define(
    'portage_stream_alarm',
    'gauge',
    '1 while the stream raises this alarm (forked, vanished, hidden, unknown-completion, distrusted, and those of its agent), else 0; docs/streams.md says what to do.',
    ['stream', 'kind'],
  ),
  streamPaused: define('portage_stream_paused', 'gauge', '1 while an operator has paused the stream, else 0.', ['stream']),
  streamCheckpointAge: define(
    'portage_stream_checkpoint_age_seconds',
    'gauge',
    'Time since this process last wrote the checkpoint of the stream; absent where none is configured.',
    ['stream'],
  ),
  halts: define('portage_halts', 'gauge', 'Halts in force, as this process last read the settings.', []),
  settingsVersion: define(
    'portage_settings_version',
    'gauge',
    'Version of the settings that this process uses; 0: nothing was ever changed.',
    [],
  ),
  apiRequests: define('portage_api_requests_total', 'counter', 'Requests to the REST API, by route and status.', ['route', 'status']),
  apiSeconds: define(
    'portage_api_request_seconds',
    'histogram',
    'From the first byte of a request to the last of its answer.',
    ['route'],
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  ),
} as const

type Definitions = typeof metricDefinitions
type MetricOf<Definition> =
  Definition extends MetricDefinition<infer Label, infer Kind>
    ? { counter: CounterMetric<Label>; gauge: GaugeMetric<Label>; histogram: HistogramMetric<Label> }[Kind]
    : never
type MetricsByName = { readonly [Name in keyof Definitions]: MetricOf<Definitions[Name]> }

/** One typed object of all metrics, and how they are read. */
export interface Metrics extends MetricsByName {
  /** Called before every rendering, to copy values that other objects keep: RPC counts, heights. Returns the function that ends it. */
  onCollect(collect: (metrics: Metrics) => void): () => void
  /** Prometheus text, version 0.0.4. A collector that throws loses only its own values. */
  render(): Promise<string>
}

/** All metrics, in a registry of their own. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const collectors = new Set<(metrics: Metrics) => void>()
  const byName = Object.entries(metricDefinitions).map(([name, definition]) => [name, createMetric(registry, definition)] as const)
  const metrics: Metrics = {
    ...Object.assign({} as MetricsByName, Object.fromEntries(byName)),
    onCollect(collect) {
      collectors.add(collect)
      return () => collectors.delete(collect)
    },
    render() {
      for (const collect of collectors) {
        try {
          collect(metrics)
        } catch {
          // A chain that is being closed must not take the other chains' figures with it.
        }
      }
      return registry.metrics()
    },
  }
  return metrics
}

/** prom-client's own metric: the types here only ask for every label, so that series can be added up. */
function createMetric(registers: Registry, { name, kind, help, labels, buckets }: MetricDefinition) {
  const options = { name, help, labelNames: labels, registers: [registers] }
  if (kind === 'counter') return new Counter(options)
  if (kind === 'gauge') return new Gauge(options)
  return new Histogram({ ...options, ...(buckets && { buckets: [...buckets] }) })
}

function define<const Label extends string, const Kind extends MetricKind>(
  name: string,
  kind: Kind,
  help: string,
  labels: readonly Label[],
  buckets?: readonly number[],
): MetricDefinition<Label, Kind> {
  return { name, kind, help, labels, buckets }
}
