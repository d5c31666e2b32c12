import type { ChainName } from '../domain/transfer/transfer.ts'
import { GateWatcher } from '../bridges/gates/gate-watcher.ts'
import { UnauthorizedLanes } from '../bridges/gates/unauthorized-lanes.ts'
import type { LaneStatusCache } from '../lanes/lane-status-cache.ts'
import { createPauses } from '../lanes/pauses.ts'
import { listWaitingTransfers, wakeTransfer } from '../temporal/client/transfers.ts'
import type { ProcessContext } from './context.ts'
import { laneConfigs } from './lane-config.ts'

/** The watcher of the gates of a target chain; undefined where no bridge has any. */
export function createGateWatcher(name: ChainName, lanes: LaneStatusCache, context: ProcessContext): GateWatcher | undefined {
  const { config, client, network, logger, metrics } = context
  const chain = network.chains.get(name)
  const endpoints = new Map([...network.bridges].map(([bridge, { endpoint }]) => [bridge, endpoint(name)] as const))
  if (!chain || ![...endpoints.values()].some(({ reserve }) => reserve)) return undefined
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
