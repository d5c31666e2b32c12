import { createLaneSteps } from '../activities/index.ts'
import type { ChainConfig } from '../config/schema.ts'
import { RelayerError } from '../domain/errors.ts'
import type { FeeDesk } from '../domain/fee-policy.ts'
import type { Settings } from '../domain/settings.ts'
import type { ChainName } from '../domain/transfer.ts'
import { LaneAgent } from '../lanes/agent.ts'
import { Ledger } from '../lanes/ledger.ts'
import type { Logger } from '../observability/logger.ts'
import { laneQueue } from '../temporal/names.ts'
import type { World } from './deps.ts'
import { laneConfig } from './deps.ts'
import { openSigner, signingPolicy } from './signer.ts'
import type { Temporal } from './temporal.ts'
import type { WorkerTuning } from './tuning.ts'
import { Worker } from '@temporalio/worker'

/** For every nonce in flight as many again may wait in memory; the rest wait in the task queue. */
const slotsPerNonce = 2

export interface RunningLane {
  readonly worker: Worker
  readonly agent: LaneAgent
}

/** One key's activities and the agent that drives its nonces. Throws SIGNER_UNAVAILABLE. */
export async function createLaneWorker(options: {
  chainName: ChainName
  chain: ChainConfig
  lane: ChainConfig['lanes'][number]
  temporal: Temporal
  world: World
  settings: () => Settings
  fees: FeeDesk
  logger: Logger
  tuning: WorkerTuning
  updatesPerRun?: number
}): Promise<RunningLane> {
  const { chainName, chain: settings, lane, temporal, world, tuning, updatesPerRun } = options
  const config = laneConfig(settings, lane)
  const logger = options.logger.child({ lane: config.lane })
  const chain = world.chains.get(chainName)
  if (!chain || !lane.signer)
    throw new RelayerError('SIGNER_UNAVAILABLE', { detail: 'this lane has no signer', facts: { lane: config.lane } })
  const policy = signingPolicy(
    settings,
    lane,
    [...world.bridges.values()].map((bridge) => bridge.endpoint(chainName)),
  )
  const signer = await openSigner({ family: settings.family, spec: lane.signer, address: lane.address, policy, logger })
  const ledger = new Ledger({ client: temporal.client, config, logger, ...(updatesPerRun && { updatesPerRun }) })
  const agent = new LaneAgent({ chain, signer, ledger, logger, config, bumpAfterBlocks: settings.bumpAfterBlocks, fees: options.fees })
  agent.start()
  const worker = await Worker.create({
    connection: temporal.connection,
    namespace: temporal.namespace,
    taskQueue: laneQueue(config.lane),
    activities: createLaneSteps({
      bridges: world.bridges,
      agents: new Map([[config.lane, agent]]),
      chain,
      settings: options.settings,
      fees: options.fees,
    }),
    maxConcurrentActivityTaskExecutions: lane.window * slotsPerNonce,
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: tuning.lanePollers },
    shutdownGraceTime: tuning.graceMs,
    shutdownForceTime: tuning.forceMs,
  })
  return { worker, agent }
}
