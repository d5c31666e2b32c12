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
import { listWaitingTransfers, wakeTransfer } from '../temporal/client/waiting-transfers.ts'
import type { TemporalClient } from '../temporal/client/client.ts'

/** The keeper of the gates of a target chain; undefined where no bridge has any. */
export function createGateWatcher(
  name: ChainName,
  options: {
    config: Config
    client: TemporalClient
    network: Network
    lanes: LaneStatusCache | undefined
    logger: Logger
    metrics: Metrics
  },
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
    waitingTransfers: {
      wake: (id) => wakeTransfer(client, id),
      waiting: (bridge) => listWaitingTransfers(client, name, bridge),
    },
    unauthorized,
    logger,
    metrics,
  })
}
