import { LaneWaiters } from '../../lanes/ledger/lane-waiters.ts'
import { GateWatcher } from '../../bridges/gates/gate-watcher.ts'
import { LanesWithoutRole } from '../../bridges/gates/lanes-without-role.ts'
import { createPauses } from '../../lanes/ledger/pauses.ts'
import { listWaitingTransfers, wakeTransfer } from '../../temporal/client/transfers/transfers.ts'
import { createAuditSteps, createKeylessSteps, createNearSteps } from '../../activities/index.ts'
import type { NearLanes } from '../../activities/near-at-hand.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import { createHeldNonces, createSharedHeldNonces } from '../../lanes/ledger/held-nonces.ts'
import { createWithdrawals } from '../../lanes/ledger/withdrawals.ts'
import { chainQueue } from '../../temporal/contracts/names.ts'
import { auditAlarms } from './audit.ts'
import { workflowBundle } from '../process/bundle.ts'
import { createLaneStatusCache, type LaneStatusCache } from '../../lanes/ledger/lane-status-cache.ts'
import { laneConfigs } from './lane.ts'
import type { ProcessContext, Service } from './context.ts'
import type { Logger } from '../../observability/logger.ts'
import { createWorker } from '../process/create-worker.ts'
import { type Hosting, pollers } from '../process/tuning.ts'
import type { Worker } from '@temporalio/worker'

/**
 * A transfer or an audit whose history does not replay fails, and is started again: by its stream or the audit, or by the schedule. Such histories come from
 * a Temporal that was set back under running processes. Waiting for a person would be no safer, since the process that drives the nonce goes on, and the
 * chains know what is done. Workflows of the queue `ledger` know what no chain does; they are reset (temporal/recovery/workflow-recovery.ts).
 */
export const unfitting = { '*': [], transfer: ['NondeterminismError'], audit: ['NondeterminismError'] }

/** Steps of this queue at a time, beside those near at hand: no burst of these keeps a withdrawal waiting. */
const keylessSlots = 50

/** Transfer workflows and keyless steps of one target chain, and the broadcasts of its transfers through lanes near at hand. */
export async function createChainWorker(
  name: ChainName,
  context: ProcessContext,
  hosting: Hosting,
  allNear: NearLanes,
): Promise<{ worker: Worker; services: Service[] }> {
  const { config, client, network, settings, logger, haltRoute, fees, losses, lossReports, stepTimes } = context
  const { bridges, chains } = network
  const ledgers = laneConfigs(config, name)
  const lanes = createLaneStatusCache(client, [...ledgers.keys()])
  const near: NearLanes = new Map([...allNear].filter(([lane]) => ledgers.has(lane)))
  const nearSlots = [...near.values()].reduce((sum, { slots }) => sum + slots.size, 0)
  const gates = createGateWatcher(name, lanes, context)
  const laneWaiters = new LaneWaiters({ lanes, wake: (id) => wakeTransfer(client, id), logger })
  const batched = [...bridges.values()].some((bridge) => bridge.endpoint(name).batches !== undefined)
  const keyless = createKeylessSteps({
    bridges,
    chains,
    lanes: new Map([[name, lanes]]),
    settings,
    haltRoute,
    gates,
    laneWaiters,
    fees,
    losses,
    lossReports,
    stepTimes,
    near,
    abandonAfterMs: config.transfers.abandonAfterMinutes * 60_000,
    withdraw: createWithdrawals(client, ledgers, batched),
    heldNonces: createHeldNonces(client, [...ledgers.keys()], batched),
    sharedHeldNonces: createSharedHeldNonces(client, [...ledgers.keys()], batched),
  })
  const audits = createAuditSteps({ bridges, chains, client, ...auditAlarms(name, context) })
  const activities = { ...keyless, ...audits, ...createNearSteps(near) }
  const worker = await createTransferWorker(name, { ...hosting, logger, activities, nearSlots })
  return { worker, services: gates ? [gates, laneWaiters] : [laneWaiters] }
}

/**
 * The Worker of a chain's queue. Its slots and pollers are its own: however many admissions hold them, the Worker of the queue `ledger` answers.
 * @param options.nearSlots how many broadcasts near at hand there may be at a time; 0: there are none
 */
export async function createTransferWorker(
  name: ChainName,
  { logger, activities, nearSlots, ...hosting }: Hosting & { logger: Logger; activities: object; nearSlots: number },
): Promise<Worker> {
  const { tuning } = hosting
  return createWorker(hosting, 'PINNED', {
    taskQueue: chainQueue(name),
    workflowBundle: await workflowBundle(logger, hosting.tracing !== undefined),
    activities,
    maxCachedWorkflows: tuning.maxCachedWorkflows,
    maxConcurrentWorkflowTaskExecutions: tuning.workflowTasks,
    maxConcurrentLocalActivityExecutions: 100,
    maxConcurrentActivityTaskExecutions: keylessSlots + nearSlots,
    workflowTaskPollerBehavior: pollers(tuning.workflowPollers),
    // As many as a lane has: where the server starts nothing eagerly, steps near at hand come by the queue.
    activityTaskPollerBehavior: pollers(nearSlots > 0 ? tuning.lanePollers : 2),
    workflowFailureErrorTypes: unfitting,
  })
}

/** The watcher of the gates of a target chain; undefined where no bridge has any. */
function createGateWatcher(name: ChainName, lanes: LaneStatusCache, context: ProcessContext): GateWatcher | undefined {
  const { config, client, network, logger, metrics } = context
  const chain = network.chains.get(name)
  const endpoints = new Map([...network.bridges].map(([bridge, { endpoint }]) => [bridge, endpoint(name)] as const))
  if (!chain || ![...endpoints.values()].some(({ reserve }) => reserve)) return undefined
  const pauses = createPauses(client, laneConfigs(config, name))
  const unauthorized = new LanesWithoutRole({ endpoints, lanes, pauses, logger, metrics })
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
