import { createKeylessSteps } from '../activities/index.ts'
import type { Config } from '../config/schema.ts'
import type { Settings } from '../domain/settings.ts'
import type { ChainName } from '../domain/transfer.ts'
import { createWithdrawals } from '../lanes/withdrawals.ts'
import type { Logger } from '../observability/logger.ts'
import { chainQueue } from '../temporal/names.ts'
import { workflowBundle } from './bundle.ts'
import type { World } from './deps.ts'
import { chainOf, laneConfigs, laneDirectories } from './deps.ts'
import type { Temporal } from './temporal.ts'
import type { WorkerTuning } from './tuning.ts'
import { Worker } from '@temporalio/worker'

/** Transfer workflows and keyless steps of one target chain. */
export async function createChainWorker(
  name: ChainName,
  options: { config: Config; temporal: Temporal; world: World; settings: () => Settings; logger: Logger; tuning: WorkerTuning },
): Promise<Worker> {
  const { config, temporal, world, settings, logger, tuning } = options
  return Worker.create({
    connection: temporal.connection,
    namespace: temporal.namespace,
    taskQueue: chainQueue(name),
    workflowBundle: await workflowBundle(logger),
    activities: createKeylessSteps({
      bridges: world.bridges,
      chains: world.chains,
      lanes: laneDirectories(config, temporal.client, [name]),
      settings,
      patienceMs: config.transfers.abandonAfterMinutes * 60_000,
      withdraw: createWithdrawals(temporal.client, laneConfigs(chainOf(config, name))),
    }),
    maxCachedWorkflows: tuning.maxCachedWorkflows,
    maxConcurrentWorkflowTaskExecutions: tuning.workflowTasks,
    maxConcurrentLocalActivityExecutions: tuning.localActivities,
    maxConcurrentActivityTaskExecutions: tuning.keylessActivities,
    workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: tuning.workflowPollers },
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: tuning.keylessPollers },
    shutdownGraceTime: tuning.graceMs,
    shutdownForceTime: tuning.forceMs,
  })
}
