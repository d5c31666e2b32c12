import type { TemporalClient } from '../temporal/client/client.ts'
import { chainOf, idOf } from '../config/chains.ts'
import type { ChainConfig, Config } from '../config/schema.ts'
import type { LaneId } from '../domain/lane/lane-id.ts'
import type { LaneConfig } from '../domain/lane/lane.ts'
import type { ChainName } from '../domain/transfer/transfer.ts'
import type { TransferDefaults } from '../intake/submitter.ts'
import type { LaneStatusCache } from '../lanes/lane-status-cache.ts'
import { createLaneStatusCache } from '../lanes/lane-status-cache.ts'

/** What the config says of transfers whose senders say nothing. */
export function transferDefaults({ transfers }: Config): TransferDefaults {
  const { priority, deadlineMinutes } = transfers
  return { priority, ...(deadlineMinutes !== undefined && { withinMs: deadlineMinutes * 60_000 }) }
}

/** The lanes of every chain, as the chains' workers choose among them. */
export function laneStatusCaches(config: Config, client: TemporalClient, chains: Iterable<ChainName>): Map<ChainName, LaneStatusCache> {
  return new Map(
    [...chains].map((name) => [
      name,
      createLaneStatusCache(
        client,
        chainOf(config, name).lanes.map((lane) => idOf(chainOf(config, name), lane.address)),
      ),
    ]),
  )
}

/** What a lane's ledger is started with. */
export function laneConfig({ worker }: Pick<Config, 'worker'>, chain: ChainConfig, lane: ChainConfig['lanes'][number]): LaneConfig {
  const fillAfterBlocks = Math.max(3, Math.ceil((worker.fillAfterSeconds * 1_000) / chain.blockTimeMs))
  const { minimumBalance } = lane
  return { lane: idOf(chain, lane.address), window: lane.window, fillAfterBlocks, ...(minimumBalance && { minimumBalance }) }
}

/** The lanes of a chain, by id. Throws as `chainOf`. */
export function laneConfigs(config: Config, name: ChainName): Map<LaneId, LaneConfig> {
  const chain = chainOf(config, name)
  return new Map(chain.lanes.map((lane) => [idOf(chain, lane.address), laneConfig(config, chain, lane)]))
}
