import type { Config } from '../config/schema.ts'

/** Limits and time-outs of the Workers of a process. The limits are those that `npm run bench` was run with. */
export interface WorkerTuning {
  readonly maxCachedWorkflows: number
  readonly workflowTasks: number
  readonly workflowPollers: number
  readonly localActivities: number
  readonly keylessActivities: number
  readonly keylessPollers: number
  readonly lanePollers: number
  /** A lane's ledger continues as new after so many updates; absent: as the workflow decides. */
  readonly updatesPerRun?: number
  /** A workflow task waits so long for the process that has the workflow in memory, ms. */
  readonly stickyMs: number
  /** Activities that run when the process is told to stop have this long to end, ms. */
  readonly graceMs: number
  /** Activities that have not ended after this long are left behind, ms; another process takes them over. */
  readonly forceMs: number
}

/**
 * The number of pollers is fixed: autoscaling pollers lost tasks for 10 s on a busy dev server. An evicted workflow costs a replay of about 20 events; the
 * SDK's own default is about 600 cached workflows per GiB of heap.
 */
export const defaultTuning: WorkerTuning = {
  maxCachedWorkflows: 1_000,
  workflowTasks: 40,
  workflowPollers: 8,
  localActivities: 100,
  keylessActivities: 50,
  keylessPollers: 2,
  lanePollers: 4,
  stickyMs: 10_000,
  graceMs: 5_000,
  forceMs: 20_000,
}

/**
 * The defaults, with what the config says, and two variables of tests: PORTAGE_MAX_CACHED_WORKFLOWS (0 replays every workflow at every task, which finds
 * non-determinism) and PORTAGE_LANE_UPDATES_PER_RUN.
 */
export function tuningFrom({ worker }: Pick<Config, 'worker'>, env: NodeJS.ProcessEnv): WorkerTuning {
  const updatesPerRun = env['PORTAGE_LANE_UPDATES_PER_RUN']
  const tuning: WorkerTuning = {
    ...defaultTuning,
    ...(updatesPerRun && { updatesPerRun: Number(updatesPerRun) }),
    stickyMs: worker.stickySeconds * 1_000,
    graceMs: worker.shutdownGraceSeconds * 1_000,
    forceMs: worker.shutdownForceSeconds * 1_000,
  }
  const cached = env['PORTAGE_MAX_CACHED_WORKFLOWS']
  if (cached === undefined) return tuning
  const maxCachedWorkflows = Number(cached)
  // Without a cache, a second task would evict the first one's workflow during its local activity, which costs a time-out of 10 s.
  return { ...tuning, maxCachedWorkflows, ...(maxCachedWorkflows === 0 && { workflowTasks: 1, workflowPollers: 1 }) }
}

/** The options of a Worker that every role sets alike. */
export function commonOptions({ stickyMs, graceMs, forceMs }: WorkerTuning) {
  return { stickyQueueScheduleToStartTimeout: stickyMs, shutdownGraceTime: graceMs, shutdownForceTime: forceMs } as const
}
