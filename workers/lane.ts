import { type BatchRouting, createBatchRouting } from '../activities/batch/batch-routing.ts'
import { createLaneSteps } from '../activities/index.ts'
import type { ChainConfig } from '../config/schema.ts'
import { RelayerError } from '../domain/errors.ts'
import type { LaneId } from '../domain/lane/lane-id.ts'
import type { ChainName } from '../domain/transfer/transfer.ts'
import { LaneAgent } from '../lanes/agent.ts'
import { BatchTracker } from '../lanes/batch/batch-tracker.ts'
import { LedgerClient } from '../lanes/ledger-client.ts'
import { laneQueue } from '../temporal/contracts/names.ts'
import type { ProcessContext } from './context.ts'
import { laneConfig } from './lane-config.ts'
import { openSigner, signingPolicy } from './signer.ts'
import { commonOptions, type Hosting, pollers } from './tuning.ts'
import { Worker } from '@temporalio/worker'

/** Steps in memory per nonce of the window: one in flight and one that waits; the others wait in the task queue. */
const slotsPerNonce = 2
/** Where transfers share calls: so many full batches of steps more, which wait, form a batch or are on their way into a block. A step takes some kilobytes. */
const batchesOfSlots = 4

/** A lane of the config, with its chain. */
export interface ConfiguredLane {
  readonly chainName: ChainName
  readonly chain: ChainConfig
  readonly lane: ChainConfig['lanes'][number]
}

/** The activities of one key, and the agent that drives its nonces. Throws SIGNER_UNAVAILABLE. */
export async function createLaneWorker(
  { chainName, chain: chainConfig, lane }: ConfiguredLane,
  context: ProcessContext,
  hosting: Hosting,
): Promise<{ worker: Worker; agent: LaneAgent }> {
  const { client, network, settings, fees } = context
  const config = laneConfig(context.config, chainConfig, lane)
  const logger = context.logger.child({ lane: config.lane })
  const chain = network.chains.get(chainName)
  if (!chain || !lane.signer)
    throw new RelayerError('SIGNER_UNAVAILABLE', { detail: 'this lane has no signer', facts: { lane: config.lane } })
  const endpoints = [...network.bridges.values()].map((bridge) => bridge.endpoint(chainName))
  const policy = signingPolicy(chainConfig, lane, endpoints)
  const signer = await openSigner({ family: chainConfig.family, spec: lane.signer, address: lane.address, policy, logger })
  const ledger = new LedgerClient({ client, config, logger, updatesPerRun: hosting.tuning.updatesPerRun })
  const agent = new LaneAgent({ chain, signer, ledger, logger, config, bumpAfterBlocks: chainConfig.bumpAfterBlocks, fees })
  agent.start()
  const largestBatch = Math.max(0, ...endpoints.map(({ batches }) => batches?.largest ?? 0))
  const steps = { bridges: network.bridges, chain, settings, fees }
  const batches = new BatchTracker({ client, agent, logger })
  const batchRouting = new Map<LaneId, BatchRouting>(
    largestBatch > 0 ? [[config.lane, createBatchRouting({ ...steps, agent, batches })]] : [],
  )
  const worker = await Worker.create({
    ...commonOptions(hosting),
    taskQueue: laneQueue(config.lane),
    activities: createLaneSteps({ ...steps, agents: new Map([[config.lane, agent]]), batchRouting }),
    maxConcurrentActivityTaskExecutions: lane.window * slotsPerNonce + largestBatch * batchesOfSlots,
    activityTaskPollerBehavior: pollers(hosting.tuning.lanePollers),
  })
  return { worker, agent }
}
