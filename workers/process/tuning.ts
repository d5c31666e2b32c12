import type { Config } from '../../config/schema/schema.ts'
import { type Deployment, versionOptions } from './deployment.ts'
import type { Temporal } from './temporal.ts'
import type { ProcessTracing } from '../telemetry/tracing.ts'

/** Limits and timeouts of Workers. Pollers are fixed: autoscaling pollers lost tasks for 10 s on a busy dev server. */
export const defaultTuning = {
  maxCachedWorkflows: 1_000,
  workflowTasks: 40,
  workflowPollers: 8,
  lanePollers: 4,
  /** Updates after which a lane's ledger continues as new. Undefined: the workflow decides. */
  updatesPerRun: undefined as number | undefined,
  /** How long a workflow task waits for the process that has the workflow in memory, ms. */
  stickyMs: 10_000,
  graceMs: 5_000,
  /** After this time unfinished activities are left to another process, ms. */
  forceMs: 20_000,
}

export type WorkerTuning = Readonly<typeof defaultTuning>

/** Also reads, for tests, PORTAGE_MAX_CACHED_WORKFLOWS (0: replay at every task) and PORTAGE_LANE_UPDATES_PER_RUN. */
export function tuningFrom({ worker }: Pick<Config, 'worker'>, env: NodeJS.ProcessEnv): WorkerTuning {
  const updatesPerRun = env['PORTAGE_LANE_UPDATES_PER_RUN']
  const maxCachedWorkflows = Number(env['PORTAGE_MAX_CACHED_WORKFLOWS'] ?? defaultTuning.maxCachedWorkflows)
  return {
    ...defaultTuning,
    maxCachedWorkflows,
    // Without a cache, a second task would evict a workflow during its local activity, which costs 10 s.
    ...(maxCachedWorkflows === 0 && { workflowTasks: 1, workflowPollers: 1 }),
    updatesPerRun: updatesPerRun ? Number(updatesPerRun) : undefined,
    stickyMs: worker.stickySeconds * 1_000,
    graceMs: worker.shutdownGraceSeconds * 1_000,
    forceMs: worker.shutdownForceSeconds * 1_000,
  }
}

export interface Hosting {
  readonly temporal: Temporal
  readonly tuning: WorkerTuning
  readonly tracing?: ProcessTracing | undefined
  readonly deployment?: Deployment | undefined
}

export function commonOptions(
  { temporal: { connection, namespace }, tuning: { stickyMs, graceMs, forceMs }, tracing, deployment }: Hosting,
  versioning: 'PINNED' | 'AUTO_UPGRADE',
) {
  const timeouts = { stickyQueueScheduleToStartTimeout: stickyMs, shutdownGraceTime: graceMs, shutdownForceTime: forceMs }
  const traced = tracing && { interceptors: tracing.interceptors, sinks: tracing.sinks }
  return { connection, namespace, ...timeouts, ...traced, ...versionOptions(deployment, versioning) }
}

export function pollers(maximum: number) {
  return { type: 'simple-maximum', maximum } as const
}
