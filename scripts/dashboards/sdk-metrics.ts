import type { MetricDefinition } from '../../observability/metrics.ts'

export type Described = Pick<MetricDefinition, 'name' | 'kind' | 'labels'>

const worker = ['namespace', 'task_queue', 'service_name']
const ofWorkflow = [...worker, 'workflow_type']
const ofActivity = [...ofWorkflow, 'activity_type']
const ofRequest = ['namespace', 'operation', 'service_name']

/** Metrics of Temporal's SDK, as the admin port names them. A test compares them with the SDK's source. */
export const sdkMetrics: readonly Described[] = [
  ...named('counter', ofRequest, 'temporal_request_total', 'temporal_long_request_total'),
  ...named('counter', [...ofRequest, 'status_code'], 'temporal_request_failure_total', 'temporal_long_request_failure_total'),
  ...named('histogram', ofRequest, 'temporal_request_latency_seconds'),
  ...named(
    'counter',
    ofWorkflow,
    'temporal_workflow_completed_total',
    'temporal_workflow_failed_total',
    'temporal_workflow_continue_as_new_total',
  ),
  ...named('counter', [...ofWorkflow, 'failure_reason'], 'temporal_workflow_task_execution_failed_total'),
  ...named('histogram', ofWorkflow, 'temporal_workflow_task_replay_latency_seconds', 'temporal_workflow_task_execution_latency_seconds'),
  ...named(
    'histogram',
    worker,
    'temporal_workflow_task_schedule_to_start_latency_seconds',
    'temporal_activity_schedule_to_start_latency_seconds',
  ),
  ...named('histogram', ofActivity, 'temporal_activity_execution_latency_seconds', 'temporal_local_activity_execution_latency_seconds'),
  ...named('counter', [...ofActivity, 'failure_reason'], 'temporal_activity_execution_failed_total'),
  ...named('gauge', [...worker, 'worker_type'], 'temporal_worker_task_slots_available', 'temporal_worker_task_slots_used'),
  ...named('gauge', [...worker, 'poller_type'], 'temporal_num_pollers'),
  ...named('gauge', worker, 'temporal_sticky_cache_size'),
  ...named(
    'counter',
    worker,
    'temporal_sticky_cache_hit_total',
    'temporal_sticky_cache_miss_total',
    'temporal_sticky_cache_total_forced_eviction_total',
  ),
]

function named(kind: Described['kind'], labels: readonly string[], ...names: readonly string[]): Described[] {
  return names.map((name) => ({ name, kind, labels }))
}
