import type { Dashboard } from './grafana.ts'
import { queries } from './query.ts'

const { max, sum, rate, increase, quantile } = queries('task_queue')

export const temporal: Dashboard = {
  name: 'temporal',
  title: 'Temporal and workers',
  description: "Temporal and the workers of Portage: metrics of Temporal's SDK, and stuck workflows.",
  filters: [['task_queue', 'temporal_worker_task_slots_available']],
  rows: [
    {
      title: 'Workflows',
      panels: [
        {
          ...{ title: 'Stuck', unit: 'short' },
          description: 'Open workflows of the queue ledger whose task fails repeatedly: docs/runbooks/WORKFLOW_FAILING.md.',
          series: [[max('type', 'portage_workflows_stuck'), '{{ type }}']],
        },
        {
          ...{ title: 'Reset', unit: 'short' },
          description: 'Workflows that were reset because their history did not replay or their tasks were not answered.',
          series: [[increase('type', 'portage_workflows_reset_total'), '{{ type }}']],
        },
        {
          ...{ title: 'Tasks that failed', unit: 'short' },
          description: 'By type and reason. NonDeterminismError: a deployment cannot replay an earlier history.',
          series: [
            [
              increase('workflow_type, failure_reason', 'temporal_workflow_task_execution_failed_total'),
              '{{ workflow_type }}: {{ failure_reason }}',
            ],
          ],
        },
        {
          ...{ title: 'Ended', unit: 'cps' },
          description: 'Workflows that completed, failed, or continued as new.',
          series: [
            [rate('workflow_type', 'temporal_workflow_completed_total'), '{{ workflow_type }}'],
            [rate('workflow_type', 'temporal_workflow_failed_total'), '{{ workflow_type }}: failed'],
            [rate('workflow_type', 'temporal_workflow_continue_as_new_total'), '{{ workflow_type }}: as new'],
          ],
        },
        {
          ...{ title: 'Time of a task, 95 %', unit: 's' },
          description: 'Time of a task in the process. Above a second, the CPU of the process is overloaded.',
          series: [[quantile(0.95, 'workflow_type', 'temporal_workflow_task_execution_latency_seconds'), '{{ workflow_type }}']],
        },
        {
          ...{ title: 'Time of a replay, 95 %', unit: 's' },
          description: 'Time to replay workflows that were not in memory.',
          series: [[quantile(0.95, 'workflow_type', 'temporal_workflow_task_replay_latency_seconds'), '{{ workflow_type }}']],
        },
      ],
    },
    {
      title: 'Workers',
      panels: [
        {
          ...{ title: 'Wait of workflow tasks, 95 %', unit: 's' },
          description: 'Time in the queue. The time grows if there are too few processes.',
          series: [[quantile(0.95, 'task_queue', 'temporal_workflow_task_schedule_to_start_latency_seconds'), '{{ task_queue }}']],
        },
        {
          ...{ title: 'Wait of steps, 95 %', unit: 's' },
          description: 'Time of activities in the queue.',
          series: [[quantile(0.95, 'task_queue', 'temporal_activity_schedule_to_start_latency_seconds'), '{{ task_queue }}']],
        },
        {
          ...{ title: 'Slots', unit: 'short' },
          description: 'Used and free slots of all processes. If no slot is free, steps wait.',
          series: [
            [sum('task_queue, worker_type', 'temporal_worker_task_slots_used'), '{{ task_queue }}, {{ worker_type }}: used'],
            [sum('task_queue, worker_type', 'temporal_worker_task_slots_available'), '{{ task_queue }}, {{ worker_type }}: free'],
          ],
        },
        {
          ...{ title: 'Pollers', unit: 'short' },
          description: 'Pollers of each queue. 0: no process serves the queue.',
          series: [[sum('task_queue, poller_type', 'temporal_num_pollers'), '{{ task_queue }}: {{ poller_type }}']],
        },
        {
          ...{ title: 'Time of a step, 95 %', unit: 's' },
          description: 'A broadcast takes longer, because it observes its transaction for a while.',
          series: [
            [quantile(0.95, 'activity_type', 'temporal_activity_execution_latency_seconds'), '{{ activity_type }}'],
            [quantile(0.95, 'activity_type', 'temporal_local_activity_execution_latency_seconds'), '{{ activity_type }} (local)'],
          ],
        },
        {
          ...{ title: 'Steps that failed', unit: 'short' },
          description: 'Failed steps are retried. The transfer shows the reason.',
          series: [
            [
              increase('activity_type, failure_reason', 'temporal_activity_execution_failed_total'),
              '{{ activity_type }}: {{ failure_reason }}',
            ],
          ],
        },
        {
          ...{ title: 'Workflows in memory', unit: 'short' },
          description: 'Sum over all processes.',
          series: [[sum('task_queue', 'temporal_sticky_cache_size'), '{{ task_queue }}']],
        },
        {
          ...{ title: 'Cache', unit: 'cps' },
          description: 'Each miss and each eviction causes a replay.',
          series: [
            [rate('task_queue', 'temporal_sticky_cache_hit_total'), '{{ task_queue }}: hit'],
            [rate('task_queue', 'temporal_sticky_cache_miss_total'), '{{ task_queue }}: miss'],
            [rate('task_queue', 'temporal_sticky_cache_total_forced_eviction_total'), '{{ task_queue }}: evicted'],
          ],
        },
      ],
    },
    {
      title: 'Requests to the server',
      panels: [
        {
          ...{ title: 'Requests', unit: 'reqps' },
          description: 'By operation. Long requests wait for work.',
          series: [
            [rate('operation', 'temporal_request_total'), '{{ operation }}'],
            [rate('operation', 'temporal_long_request_total'), '{{ operation }} (long)'],
          ],
        },
        {
          ...{ title: 'Failures', unit: 'reqps' },
          description: 'RESOURCE_EXHAUSTED: limits of the server. UNAVAILABLE: the server does not answer.',
          series: [
            [rate('operation, status_code', 'temporal_request_failure_total'), '{{ operation }}: {{ status_code }}'],
            [rate('operation, status_code', 'temporal_long_request_failure_total'), '{{ operation }}: {{ status_code }} (long)'],
          ],
        },
        {
          ...{ title: 'Time of a request, 95 %', unit: 's' },
          description: 'By operation.',
          series: [[quantile(0.95, 'operation', 'temporal_request_latency_seconds'), '{{ operation }}']],
        },
      ],
    },
  ],
}
