import type { Config } from '../../config/schema/schema.ts'
import { type Deployment, versionOptions } from './deployment.ts'
import type { Temporal } from './temporal.ts'
import type { ProcessTracing } from '../telemetry/tracing.ts'

/**
 * Limits and time-outs of the Workers of a process. The limits are those that `npm run bench` was run with. The number of pollers is fixed: autoscaling pollers
 * lost tasks for 10 s on a busy dev server. An evicted workflow costs a replay of about 20 events; the SDK's own default is about 600 cached workflows per GiB
 * of heap.
 */
export const defaultTuning = {
  maxCachedWorkflows: 1_000,
  workflowTasks: 40,
  workflowPollers: 8,
  lanePollers: 4,
  /** A lane's ledger continues as new after so many updates; undefined: as the workflow decides. */
  updatesPerRun: undefined as number | undefined,
  /** A workflow task waits so long for the process that has the workflow in memory, ms. */
  stickyMs: 10_000,
  /** Activities that run when the process is told to stop have this long to end, ms. */
  graceMs: 5_000,
  /** Activities that have not ended after this long are left behind, ms; another process takes them over. */
  forceMs: 20_000,
}

export type WorkerTuning = Readonly<typeof defaultTuning>

/**
 * The defaults, with what the config says, and two variables of tests: PORTAGE_MAX_CACHED_WORKFLOWS (0 replays every workflow at every task, which finds
 * non-determinism) and PORTAGE_LANE_UPDATES_PER_RUN.
 */
export function tuningFrom({ worker }: Pick<Config, 'worker'>, env: NodeJS.ProcessEnv): WorkerTuning {
  const updatesPerRun = env['PORTAGE_LANE_UPDATES_PER_RUN']
  const maxCachedWorkflows = Number(env['PORTAGE_MAX_CACHED_WORKFLOWS'] ?? defaultTuning.maxCachedWorkflows)
  return {
    ...defaultTuning,
    maxCachedWorkflows,
    // Without a cache, a second task would evict the first one's workflow during its local activity, which costs a time-out of 10 s.
    ...(maxCachedWorkflows === 0 && { workflowTasks: 1, workflowPollers: 1 }),
    updatesPerRun: updatesPerRun ? Number(updatesPerRun) : undefined,
    stickyMs: worker.stickySeconds * 1_000,
    graceMs: worker.shutdownGraceSeconds * 1_000,
    forceMs: worker.shutdownForceSeconds * 1_000,
  }
}

/** Where the Workers of a process run, and with which limits. */
export interface Hosting {
  readonly temporal: Temporal
  readonly tuning: WorkerTuning
  /** Absent: no traces. */
  readonly tracing?: ProcessTracing | undefined
  /** Undefined: the Workers have no version. */
  readonly deployment?: Deployment | undefined
}

/**
 * The options of a Worker that every role sets alike.
 * @param versioning of its workflows, where Workers have versions: workers/process/deployment.ts
 */
export function commonOptions(
  { temporal: { connection, namespace }, tuning: { stickyMs, graceMs, forceMs }, tracing, deployment }: Hosting,
  versioning: 'PINNED' | 'AUTO_UPGRADE',
) {
  const timeouts = { stickyQueueScheduleToStartTimeout: stickyMs, shutdownGraceTime: graceMs, shutdownForceTime: forceMs }
  const traced = tracing && { interceptors: tracing.interceptors, sinks: tracing.sinks }
  return { connection, namespace, ...timeouts, ...traced, ...versionOptions(deployment, versioning) }
}

/** A fixed number of pollers. */
export function pollers(maximum: number) {
  return { type: 'simple-maximum', maximum } as const
}
