import { createLaneStatusCache, createOpenLaneWatcher, type LaneStatusCache } from '../../lanes/ledger/open-lanes.ts'
import { GateWatcher } from '../../bridges/gates/gate-watcher.ts'
import { LanesWithoutRole } from '../../bridges/gates/lanes-without-role.ts'
import { createKeylessRequests, createPauses } from '../../lanes/ledger/keyless-requests.ts'
import { listWaitingTransfers, wakeTransfer } from '../../temporal/client/transfers/transfers.ts'
import { createShadow } from '../../activities/checks/shadow.ts'
import { createChainSteps } from '../../activities/index.ts'
import type { Config } from '../../config/schema/schema.ts'
import type { LocalLanes } from '../../activities/deps.ts'
import { type ChainName, defaultParkAfter, ofChain, type ParkLimits } from '../../domain/transfer/transfer.ts'
import { chainQueue, ledgerQueue } from '../../temporal/contracts/names.ts'
import { crashSinks, workflowBundle } from '../process/bundle.ts'
import { laneConfigs } from './lane.ts'
import { type Service, startPolling } from '../../runtime/wait.ts'
import type { ProcessContext, ProcessParts } from './context.ts'
import type { Logger } from '../../observability/logger.ts'
import { createWorker, type Hosting, pollers } from '../process/create-worker.ts'
import type { Worker } from '@temporalio/worker'
import { setAuditSchedule } from '../../temporal/client/streams/audits.ts'
import { problemOf } from '../../observability/severity.ts'

/**
 * Types whose runs fail on a replay error and are started again, because the chains show their state. Other runs are
 * reset.
 */
export const unfitting = { '*': [], transfer: ['NondeterminismError'], audit: ['NondeterminismError'] }

/** Slots for steps without a key. Local broadcasts have separate slots, so that they do not delay withdrawals. */
const keylessSlots = 50

export async function createChainWorker(
  name: ChainName,
  context: ProcessContext,
  hosting: Hosting,
  allLocal: LocalLanes,
): Promise<{ worker: Worker; services: Service[] }> {
  const { config, client, network, settings, logger, haltRoute, fees, losses, stepTimes, routes } = context
  const { bridges, chains } = network
  const ledgers = laneConfigs(config, name)
  const lanes = createLaneStatusCache(client, [...ledgers.keys()])
  const localLanes: LocalLanes = new Map([...allLocal].filter(([lane]) => ledgers.has(lane)))
  const localSlots = [...localLanes.values()].reduce((sum, { slots }) => sum + slots.size, 0)
  const gates = createGateWatcher(name, lanes, context)
  const openLanes = createOpenLaneWatcher({ lanes, wake: (id) => wakeTransfer(client, id), logger })
  const batched = [...bridges.values()].some(({ endpoints }) => ofChain(endpoints, { chain: name }).batches !== undefined)
  const activities = createChainSteps({
    bridges,
    chains,
    lanes: new Map([[name, lanes]]),
    settings,
    haltRoute,
    gates,
    openLanes,
    fees,
    losses,
    stepTimes,
    routes,
    localLanes,
    abandonAfterMs: config.transfers.abandonAfterMinutes * 60_000,
    parkAfter: parkAfterOf(config),
    shadow: config.chains[name]?.shadow ? createShadow(logger, context.metrics) : undefined,
    ...createKeylessRequests(client, ledgers, batched),
    ...{ client, logger, metrics: context.metrics },
  })
  const worker = await createTransferWorker(name, { ...hosting, logger, activities, localSlots })
  return { worker, services: [...(gates ? [gates] : []), openLanes.start(), scheduleAudits(name, context)] }
}

/** Park limits of the config. Undefined for the defaults, because every admission would add them to a history. */
export function parkAfterOf({ transfers }: Pick<Config, 'transfers'>): ParkLimits | undefined {
  const given = { reverts: transfers.parkAfterReverts, spentNonces: transfers.parkAfterSpentNonces }
  const isDefault = given.reverts === defaultParkAfter.reverts && given.spentNonces === defaultParkAfter.spentNonces
  return isDefault ? undefined : given
}

export async function createTransferWorker(
  name: ChainName,
  { logger, activities, localSlots, ...hosting }: Hosting & { logger: Logger; activities: object; localSlots: number },
): Promise<Worker> {
  const { tuning } = hosting
  return createWorker(hosting, 'PINNED', {
    taskQueue: chainQueue(name),
    workflowBundle: await workflowBundle(logger, hosting.tracing !== undefined),
    activities,
    maxCachedWorkflows: tuning.maxCachedWorkflows,
    maxConcurrentWorkflowTaskExecutions: tuning.workflowTasks,
    maxConcurrentLocalActivityExecutions: 100,
    maxConcurrentActivityTaskExecutions: keylessSlots + localSlots,
    workflowTaskPollerBehavior: pollers(tuning.workflowPollers),
    // As many pollers as for a lane, because this queue also gets local steps that the server does not start eagerly.
    activityTaskPollerBehavior: pollers(localSlots > 0 ? tuning.lanePollers : 2),
    workflowFailureErrorTypes: unfitting,
  })
}

function createGateWatcher(name: ChainName, lanes: LaneStatusCache, context: ProcessContext): GateWatcher | undefined {
  const { config, client, network, logger, metrics } = context
  const chain = network.chains.get(name)
  const endpoints = new Map([...network.bridges].map(([bridge, one]) => [bridge, ofChain(one.endpoints, { chain: name })] as const))
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

/** Ledgers have a Worker of their own, so that waiting transfers do not delay a grant. */
export async function createLedgerWorker({ logger, ...hosting }: Hosting & { logger: Logger }): Promise<Worker> {
  return createWorker(hosting, 'AUTO_UPGRADE', {
    taskQueue: ledgerQueue,
    workflowBundle: await workflowBundle(logger, hosting.tracing !== undefined),
    sinks: { ...crashSinks, ...hosting.tracing?.sinks },
    maxCachedWorkflows: hosting.tuning.maxCachedWorkflows,
    workflowTaskPollerBehavior: pollers(4),
  })
}

/**
 * Interval of checks of the schedule, ms. After a wipe of Temporal, the schedule is missing, so the check creates it
 * again.
 */
const againMs = 15_000

function scheduleAudits(chain: ChainName, { client, config, logger, metrics }: ProcessParts): Service {
  const { portage_effects_undone_total: undone, portage_transfers_reopened_total: reopened, portage_audits_total: audits } = metrics
  // A counter that begins at 0 lets an alert on growth notice the first count.
  for (const counter of [undone, reopened, audits]) counter.inc({ chain }, 0)
  metrics.portage_audit_finished_time_seconds.set({ chain }, Date.now() / 1_000)
  metrics.portage_audit_interval_seconds.set({ chain }, config.audit.everyMinutes * 60)
  let isSet = false
  let isLogged = false
  const keep = async () => {
    await setAuditSchedule(client, chain, config.audit, { onlyIfMissing: isSet })
    isSet = true
    isLogged = false
  }
  const onError = (error: unknown) => {
    if (!isLogged) logger.warn('the schedule of the audits could not be set; trying again', { chain, ...problemOf(error) })
    isLogged = true
  }
  return startPolling(keep, { everyMs: againMs, onError })
}
