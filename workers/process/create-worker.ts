import type { Config } from '../../config/schema/schema.ts'
import { encodedFailures } from '../../temporal/encryption/codec.ts'
import type { ProcessTracing } from '../telemetry/otlp.ts'
import { withEncodedFailures } from './bundle.ts'
import { type Deployment, versionOptions } from './deployment.ts'
import type { Temporal } from './temporal.ts'
import { Worker, type WorkerOptions } from '@temporalio/worker'

/** Settings of Workers. The number of pollers is fixed: with autoscaling, a busy dev server lost tasks for 10 s. */
export const defaultTuning = {
  maxCachedWorkflows: 1_000,
  workflowTasks: 40,
  workflowPollers: 8,
  lanePollers: 4,
  /** Number of updates after which a lane's ledger continues as new. Undefined: the workflow decides. */
  updatesPerRun: undefined as number | undefined,
  /**
   * Time for which a workflow task waits for the process that has its workflow in the cache, ms. After this time, any
   * process may take the task.
   */
  stickyMs: 10_000,
  graceMs: 5_000,
  /** Time after which a stopping process leaves unfinished activities to another process, ms. */
  forceMs: 20_000,
}

export type WorkerTuning = Readonly<typeof defaultTuning>

/**
 * The tuning of the config. Tests override it with PORTAGE_MAX_CACHED_WORKFLOWS (0: always replay) and
 * PORTAGE_LANE_UPDATES_PER_RUN.
 */
export function tuningFrom({ worker }: Pick<Config, 'worker'>, env: NodeJS.ProcessEnv): WorkerTuning {
  const updatesPerRun = env['PORTAGE_LANE_UPDATES_PER_RUN']
  const maxCachedWorkflows = Number(env['PORTAGE_MAX_CACHED_WORKFLOWS'] ?? defaultTuning.maxCachedWorkflows)
  return {
    ...defaultTuning,
    maxCachedWorkflows,
    // Without a cache, a second task would evict a workflow whose local activity still runs, which costs 10 s.
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

type Fixed = 'connection' | 'namespace' | 'interceptors' | `shutdown${string}Time` | 'stickyQueueScheduleToStartTimeout'

export async function createWorker(
  { temporal, tuning, tracing, deployment }: Hosting,
  versioning: 'PINNED' | 'AUTO_UPGRADE',
  options: Omit<WorkerOptions, Fixed>,
): Promise<Worker> {
  const { codec, connection, namespace } = temporal
  const { workflowBundle: bundle } = options
  const worker = await Worker.create({
    connection,
    namespace,
    stickyQueueScheduleToStartTimeout: tuning.stickyMs,
    shutdownGraceTime: tuning.graceMs,
    shutdownForceTime: tuning.forceMs,
    ...(tracing && { interceptors: tracing.interceptors, sinks: tracing.sinks }),
    ...versionOptions(deployment, versioning),
    ...options,
    ...(bundle && 'code' in bundle && codec.encrypts && { workflowBundle: withEncodedFailures(bundle) }),
    // Without keys no codec is set, because a codec would fail each task with a payload that claims to be encrypted.
    ...(codec.encrypts && { dataConverter: { payloadCodecs: [codec] } }),
  })
  // The SDK's option for a converter names a file to load, which a compiled process lacks.
  if (codec.encrypts) worker.options.loadedDataConverter.failureConverter = encodedFailures
  return worker
}

export function pollers(maximum: number) {
  return { type: 'simple-maximum', maximum } as const
}
