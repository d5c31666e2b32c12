import type { Metric, MetricDefinition } from './registry.ts'
import { createMetric } from './registry.ts'

/**
 * Every metric of Portage, in the order of a transfer's journey: it comes in by a door (intake), takes a nonce of a lane, is sent through
 * RPC calls, waits for heads, and ends with an outcome. A process counts what it did itself; sums over processes are the fleet's.
 * docs/metrics.md is generated from this table.
 */
export const metricDefinitions = {
  intakeReceived: define('portage_intake_messages_total', 'counter', 'Messages that came in, by door (spy, api, cli) and bridge.', [
    'door',
    'bridge',
  ]),
  intakeStarted: define('portage_intake_started_total', 'counter', 'Messages that became a transfer, or (status=known) already were one.', [
    'door',
    'bridge',
    'status',
  ]),
  intakeRefused: define('portage_intake_refused_total', 'counter', 'Messages that were refused before an id was taken, by error code.', [
    'door',
    'bridge',
    'code',
  ]),
  laneInFlight: define('portage_lane_in_flight', 'gauge', 'Nonces that are granted and not yet mined.', ['lane']),
  laneWindow: define('portage_lane_window', 'gauge', 'The most nonces that the lane lets be in flight.', ['lane']),
  attempts: define('portage_attempts_total', 'counter', 'Transactions handed to the nodes, by lane and kind (call, bump, noop).', [
    'lane',
    'kind',
  ]),
  rpcCalls: define('portage_rpc_calls_total', 'counter', 'JSON-RPC calls by chain and method.', ['chain', 'method']),
  headHeight: define('portage_head_height', 'gauge', 'Height of the latest block that the head tracker saw.', ['chain']),
  finalizedHeight: define('portage_finalized_height', 'gauge', 'Height at and below which blocks are final.', ['chain']),
  outcomes: define('portage_transfers_total', 'counter', 'Transfers that ended or were parked in this process, by state and error code.', [
    'target',
    'state',
    'code',
  ]),
  deliverySeconds: define(
    'portage_delivery_seconds',
    'histogram',
    'From the start of the broadcast to the block that holds our transaction.',
    ['target'],
    [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 900],
  ),
  apiRequests: define('portage_api_requests_total', 'counter', 'Requests to the REST API, by route and status.', ['route', 'status']),
} as const

type Definitions = typeof metricDefinitions
type MetricsByName = {
  readonly [Name in keyof Definitions]: Definitions[Name] extends MetricDefinition<infer Label> ? Metric<Label> : never
}

/** One typed object of all metrics, and how they are read. */
export interface Metrics extends MetricsByName {
  /** Called before every render, for values that others keep: RPC counts, heights. Returns the function that ends it. */
  onCollect(collect: (metrics: Metrics) => void): () => void
  /** Prometheus text, version 0.0.4. A collector that throws loses only its own values. */
  render(): string
}

export function createMetrics(): Metrics {
  const collectors = new Set<(metrics: Metrics) => void>()
  const byName = Object.fromEntries(
    Object.entries(metricDefinitions).map(([name, definition]) => [name, createMetric<string>(definition)]),
  ) as unknown as MetricsByName
  const metrics: Metrics = {
    ...byName,
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
      return `${Object.values(byName)
        .map((metric) => (metric as Metric<string>).render())
        .join('\n')}\n`
    },
  }
  return metrics
}

function define<const Label extends string>(
  name: string,
  kind: MetricDefinition['kind'],
  help: string,
  labels: readonly Label[],
  buckets?: readonly number[],
): MetricDefinition<Label> {
  return { name, kind, help, labels, buckets }
}
