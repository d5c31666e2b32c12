import { type BatchRouting, createBatchRouting } from '../activities/batch/batch-routing.ts'
import { createLaneSteps } from '../activities/index.ts'
import type { ChainConfig, Config } from '../config/schema.ts'
import { RelayerError } from '../domain/errors.ts'
import type { FeePolicyResolver } from '../domain/fees/policy.ts'
import type { LaneId } from '../domain/lane/lane-id.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { ChainName } from '../domain/transfer/transfer.ts'
import { LaneAgent } from '../lanes/agent.ts'
import { BatchTracker } from '../lanes/batch/batch-tracker.ts'
import { LedgerClient } from '../lanes/ledger-client.ts'
import type { Logger } from '../observability/logger.ts'
import { laneQueue } from '../temporal/contracts/names.ts'
import type { Network } from './network.ts'
import { laneConfig } from './deps.ts'
import { openSigner, signingPolicy } from './signer.ts'
import type { Temporal } from './temporal.ts'
import { commonOptions, type WorkerTuning } from './tuning.ts'
import { Worker } from '@temporalio/worker'

/** For every nonce in flight as many again may wait in memory; the rest wait in the task queue. */
const slotsPerNonce = 2
/**
 * Where transfers share calls: so many full batches more, of those that wait, that form and that are followed into a block. What a waiting step
 * takes is some kilobytes.
 */
const batchesOfSlots = 4

export interface RunningLane {
  readonly worker: Worker
  readonly agent: LaneAgent
}

/** One key's activities and the agent that drives its nonces. Throws SIGNER_UNAVAILABLE. */
export async function createLaneWorker(options: {
  config: Pick<Config, 'worker'>
  chainName: ChainName
  chain: ChainConfig
  lane: ChainConfig['lanes'][number]
  temporal: Temporal
  network: Network
  settings: () => Settings
  fees: FeePolicyResolver
  logger: Logger
  tuning: WorkerTuning
  updatesPerRun?: number
}): Promise<RunningLane> {
  const { chainName, chain: settings, lane, temporal, network, tuning, updatesPerRun } = options
  const config = laneConfig(options.config, settings, lane)
  const logger = options.logger.child({ lane: config.lane })
  const chain = network.chains.get(chainName)
  if (!chain || !lane.signer)
    throw new RelayerError('SIGNER_UNAVAILABLE', { detail: 'this lane has no signer', facts: { lane: config.lane } })
  const endpoints = [...network.bridges.values()].map((bridge) => bridge.endpoint(chainName))
  const policy = signingPolicy(settings, lane, endpoints)
  const signer = await openSigner({ family: settings.family, spec: lane.signer, address: lane.address, policy, logger })
  const ledger = new LedgerClient({ client: temporal.client, config, logger, ...(updatesPerRun && { updatesPerRun }) })
  const agent = new LaneAgent({ chain, signer, ledger, logger, config, bumpAfterBlocks: settings.bumpAfterBlocks, fees: options.fees })
  agent.start()
  const largestBatch = Math.max(0, ...endpoints.map(({ batches }) => batches?.largest ?? 0))
  const steps = { bridges: network.bridges, chain, settings: options.settings, fees: options.fees }
  const batches = new BatchTracker({ client: temporal.client, agent, logger })
  const batching = new Map<LaneId, BatchRouting>(largestBatch > 0 ? [[config.lane, createBatchRouting({ ...steps, agent, batches })]] : [])
  const worker = await Worker.create({
    connection: temporal.connection,
    namespace: temporal.namespace,
    taskQueue: laneQueue(config.lane),
    activities: createLaneSteps({ ...steps, agents: new Map([[config.lane, agent]]), batching }),
    maxConcurrentActivityTaskExecutions: lane.window * slotsPerNonce + largestBatch * batchesOfSlots,
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: tuning.lanePollers },
    ...commonOptions(tuning),
  })
  return { worker, agent }
}
