import type { Config } from '../config/schema.ts'
import type { ChainName } from '../domain/transfer/transfer.ts'
import type { LaneStatusCache } from '../lanes/lane-status-cache.ts'
import { createPauses } from '../lanes/pauses.ts'
import type { Logger } from '../observability/logger.ts'
import type { Metrics } from '../observability/metrics.ts'
import { UnauthorizedLanes } from './unauthorized-lanes.ts'
import type { Network } from './network.ts'
import { laneConfigs } from './deps.ts'
import { GateWatcher } from '../bridges/gates/gate-watcher.ts'
import { createWaitingTransfers } from './waiting-transfers.ts'
import type { Client } from '@temporalio/client'

/** The keeper of the gates of a target chain; undefined where no bridge has any. */
export function createGateWatcher(
  name: ChainName,
  options: { config: Config; client: Client; network: Network; lanes: LaneStatusCache | undefined; logger: Logger; metrics: Metrics },
): GateWatcher | undefined {
  const { config, client, network, lanes, logger, metrics } = options
  const chain = network.chains.get(name)
  const endpoints = new Map([...network.bridges].map(([bridge, { endpoint }]) => [bridge, endpoint(name)] as const))
  if (!chain || !lanes || ![...endpoints.values()].some(({ reserve }) => reserve)) return undefined
  const pauses = createPauses(client, laneConfigs(config, name))
  const unauthorized = new UnauthorizedLanes({ endpoints, lanes, pauses, logger, metrics })
  return new GateWatcher({
    chain,
    endpoints,
    lanes: lanes.lanes,
    waitingTransfers: createWaitingTransfers(client, name),
    unauthorized,
    logger,
    metrics,
  })
}
