import { chainOf, idOf } from '../config/chains.ts'
import type { ChainConfig, Config } from '../config/schema.ts'
import type { LaneId } from '../domain/lane/lane-id.ts'
import type { LaneConfig } from '../domain/lane/lane.ts'
import type { ChainName } from '../domain/transfer/transfer.ts'

/** Blocks that pass at least before a stuck nonce is filled: with fewer, a slow block would fill nonces of processes that live. */
const leastFillBlocks = 3

/** What a lane's ledger is started with. */
export function laneConfig({ worker }: Pick<Config, 'worker'>, chain: ChainConfig, lane: ChainConfig['lanes'][number]): LaneConfig {
  const fillAfterBlocks = Math.max(leastFillBlocks, Math.ceil((worker.fillAfterSeconds * 1_000) / chain.blockTimeMs))
  const { minimumBalance } = lane
  return { lane: idOf(chain, lane.address), window: lane.window, fillAfterBlocks, ...(minimumBalance && { minimumBalance }) }
}

/** The lanes of a chain, by id. Throws INPUT_INVALID for a chain that the config does not have. */
export function laneConfigs(config: Config, name: ChainName): Map<LaneId, LaneConfig> {
  const chain = chainOf(config, name)
  return new Map(chain.lanes.map((lane) => [idOf(chain, lane.address), laneConfig(config, chain, lane)]))
}
