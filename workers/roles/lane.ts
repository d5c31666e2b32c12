import { createBatchRouting } from '../../activities/batch/batch-routing.ts'
import { createLaneSteps } from '../../activities/index.ts'
import { createLocalLane } from '../../activities/transfer/broadcast.ts'
import type { AdmittedCall } from '../../activities/deps.ts'
import { chainFamilies } from '../../chains/registry.ts'
import { chainOf, idOf } from '../../config/chains.ts'
import { makeDataFolder } from '../../config/data-folder.ts'
import type { ChainConfig, Config, LaneSettings, SignerConfig } from '../../config/schema/schema.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Chain } from '../../chains/port.ts'
import type { LaneConfig, LaneId } from '../../domain/lane/lane.ts'
import { type ChainName, ofChain } from '../../domain/transfer/transfer.ts'
import { LaneAgent } from '../../lanes/agent.ts'
import { StepSlots } from '../../lanes/step-slots.ts'
import { BatchTracker } from '../../lanes/batch/batch-tracker.ts'
import { LedgerClient } from '../../lanes/ledger/ledger-client.ts'
import { laneQueue } from '../../temporal/contracts/names.ts'
import type { ProcessContext } from './context.ts'
import { demandSources } from './network.ts'
import { openSigner, signingPolicy } from './signer.ts'
import { createWorker, type Hosting, pollers } from '../process/create-worker.ts'
import { join } from 'node:path'

/** Steps in memory per nonce of the window: one in flight, one waiting. Further steps wait in Temporal's queue. */
const slotsPerNonce = 2
/** With batches, the steps of this many full batches are in memory too. A step takes some kilobytes. */
const batchesOfSlots = 4

/** An orphan is filled after at least this many blocks, because a process may report a block or two late. */
const leastFillBlocks = 3

export function laneConfigs(config: Config, name: ChainName): Map<LaneId, LaneConfig> {
  const chain = chainOf(config, name)
  return new Map(chain.lanes.map((lane) => [idOf(chain, lane.address), laneConfig(config, chain, lane)]))
}

function laneConfig({ worker }: Config, chain: ChainConfig, { address, window, minimumBalance }: LaneSettings): LaneConfig {
  const fillAfterBlocks = Math.max(leastFillBlocks, Math.ceil((worker.fillAfterSeconds * 1_000) / chain.blockTimeMs))
  return { lane: idOf(chain, address), window, fillAfterBlocks, ...(minimumBalance && { minimumBalance }) }
}

interface SigningLane {
  readonly chain: Chain
  readonly chainConfig: ChainConfig
  readonly lane: LaneSettings
  readonly signer: SignerConfig
}

/** The served lanes with a key, except in shadow mode. Throws CONFIG_INVALID if one key appears twice on a network. */
export function signingLanes({ config, network }: ProcessContext, addresses: readonly string[] | undefined): SigningLane[] {
  const only = addresses && new Set(addresses.map((address) => address.toLowerCase()))
  const seen = new Set<LaneId>()
  const lanes: SigningLane[] = []
  for (const name of network.served) {
    const [chain, chainConfig] = [network.chains.get(name), config.chains[name]]
    for (const lane of chainConfig?.lanes ?? []) {
      const { signer, address } = lane
      if (!chain || !chainConfig || chainConfig.shadow || !signer || (only && !only.has(address))) continue
      const id = idOf(chainConfig, address)
      if (seen.has(id))
        throw new RelayerError('CONFIG_INVALID', { detail: 'one key is configured twice on one network', facts: { lane: id } })
      seen.add(id)
      lanes.push({ chain, chainConfig, lane, signer })
    }
  }
  return lanes
}

/** Throws SIGNER_UNAVAILABLE, CONFIG_INVALID, DATA_FOLDER_UNUSABLE. */
export async function createLaneWorker({ chain, chainConfig, lane, signer: spec }: SigningLane, context: ProcessContext, hosting: Hosting) {
  const { client, network, settings, fees, losses, stepTimes } = context
  const config = laneConfig(context.config, chainConfig, lane)
  const logger = context.logger.child({ lane: config.lane })
  const endpoints = [...network.bridges].map(([bridge, { endpoints: all }]) => ({ ...ofChain(all, { chain: chain.name }), bridge }))
  demandSources(context, chain.name)
  const dataFolder = await makeDataFolder(context.config.dataFolder)
  const spendingFolder = join(dataFolder, 'spending', config.lane.replaceAll(/[^\w.-]/g, '_'))
  const { name: chainName, dataFee } = chain
  const finalNonce = () => chain.agreedNonce(lane.address)
  const policy = signingPolicy({ chainName, chain: chainConfig, lane, dataFee, finalNonce, bridges: endpoints, settings, spendingFolder })
  const signer = await openSigner(lane.address, () => chainFamilies[chainConfig.family].createSigner(spec, lane.address, policy), logger)
  const ledger = new LedgerClient({ client, config, logger, updatesPerRun: hosting.tuning.updatesPerRun })
  const { bumpAfterBlocks, watchTokens: tokens } = chainConfig
  const signedBelow = chainFamilies[chainConfig.family].createSignedNonces(spendingFolder)
  const agent = new LaneAgent({ chain, signer, signedBelow, ledger, logger, config, bumpAfterBlocks, fees, tokens })
  agent.start()
  const largestBatch = Math.max(0, ...endpoints.map(({ batches }) => batches?.largest ?? 0))
  const steps = { bridges: network.bridges, chain, settings, fees, losses, stepTimes }
  const batches = new BatchTracker({ client, agent, logger })
  const batchRouting = largestBatch > 0 ? createBatchRouting({ ...steps, agent, batches }) : undefined
  const most = lane.window * slotsPerNonce + largestBatch * batchesOfSlots
  const deps = { ...steps, agent, batchRouting, slots: new StepSlots<AdmittedCall>(most) }
  const worker = await createWorker(hosting, 'AUTO_UPGRADE', {
    taskQueue: laneQueue(config.lane),
    activities: createLaneSteps(deps),
    maxConcurrentActivityTaskExecutions: most,
    activityTaskPollerBehavior: pollers(hosting.tuning.lanePollers),
  })
  return { worker, agent, local: lane.broadcast === 'auto' ? createLocalLane(deps) : undefined }
}
