import type { Config } from '../config/schema.ts'
import type { ChainName } from '../domain/transfer.ts'
import type { LaneDirectory } from '../lanes/directory.ts'
import { createPauses } from '../lanes/pauses.ts'
import type { Logger } from '../observability/logger.ts'
import type { Metrics } from '../observability/metrics.ts'
import { BarredLanes } from './barred-lanes.ts'
import type { World } from './world.ts'
import { chainOf, laneConfigs } from './deps.ts'
import { GateKeeper } from './gate-keeper.ts'
import { createWakers } from './wakers.ts'
import type { Client } from '@temporalio/client'

/** The keeper of the gates of a target chain; undefined where no bridge has any. */
export function createGateKeeper(
  name: ChainName,
  options: { config: Config; client: Client; world: World; lanes: LaneDirectory | undefined; logger: Logger; metrics: Metrics },
): GateKeeper | undefined {
  const { config, client, world, lanes, logger, metrics } = options
  const chain = world.chains.get(name)
  const endpoints = new Map([...world.bridges].map(([bridge, { endpoint }]) => [bridge, endpoint(name)] as const))
  if (!chain || !lanes || ![...endpoints.values()].some(({ gate }) => gate)) return undefined
  const pauses = createPauses(client, laneConfigs(chainOf(config, name)))
  const barred = new BarredLanes({ endpoints, lanes, pauses, logger, metrics })
  return new GateKeeper({ chain, endpoints, lanes: lanes.lanes, wakers: createWakers(client, name), barred, logger, metrics })
}
