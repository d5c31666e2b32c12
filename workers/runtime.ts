import type { Config } from '../config/schema.ts'
import { RelayerError, toRelayerError } from '../domain/errors.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { Logger } from '../observability/logger.ts'
import type { LaneAgent } from '../lanes/agent.ts'
import { processMetrics, startApi } from './api.ts'
import { scheduleAudits } from './audit.ts'
import { createChainWorker } from './chain.ts'
import { idOf } from '../config/chains.ts'
import { startIntake } from './intake.ts'
import { createFeePolicyResolver } from './fees.ts'
import { createLaneWorker } from './lane.ts'
import { createLedgerWorker } from './ledger.ts'
import { startWorkflowRecovery } from '../recovery/workflow-recovery.ts'
import type { Role, RunOptions } from './roles.ts'
import type { Service } from './service.ts'
import { createRouteHalts } from './route-halts.ts'
import { applyNodeChanges } from './node-changes.ts'
import { awaitStartupDependencies, type StartupDependencies } from './startup-dependencies.ts'
import type { Temporal } from './temporal.ts'
import { startStreams } from './streams.ts'
import { tuningFrom } from './tuning.ts'
import type { Network } from './network.ts'
import type { Worker } from '@temporalio/worker'

export interface Running {
  /** Ends when everything has stopped; rejects if a part failed. */
  readonly stopped: Promise<void>
  /** Takes nothing new, lets what runs end, closes. */
  stop(): Promise<void>
}

/**
 * Starts one role, or all of them, in this process. Waits for a Temporal and for nodes that are not there yet; a start that is stopped in that wait has
 * run and ended. Throws RelayerError: config, another network, key.
 */
export async function runRole(role: Role, config: Config, options: RunOptions): Promise<Running> {
  const dependencies = await awaitStartupDependencies(role, config, options)
  if (!dependencies) return { stopped: Promise.resolve(), stop: () => Promise.resolve() }
  const agents: LaneAgent[] = []
  const services: Service[] = []
  try {
    return await startRole(role, config, options, { ...dependencies, agents, services })
  } catch (error) {
    // Else what runs already keeps a process alive that has said why it cannot start.
    await Promise.allSettled(services.map((service) => service.stop()))
    for (const agent of agents) agent.stop()
    await dependencies.close()
    throw error
  }
}

/** @param parts is filled as they begin */
async function startRole(
  role: Role,
  config: Config,
  options: RunOptions,
  parts: StartupDependencies & { readonly agents: LaneAgent[]; readonly services: Service[] },
): Promise<Running> {
  const { temporal, network, watch, startupServer, agents, services } = parts
  const { logger } = options
  const serves = (one: Role) => role === 'all' || role === one
  applyNodeChanges(watch, network.chains, logger)
  const settings = watch.current
  const context = { config, options, temporal, network, settings }

  const ledgers: Worker[] = []
  const workers: Worker[] = []
  if (serves('ledger')) ledgers.push(await createLedgerWorker({ temporal, logger, tuning: tuningFrom(config, options.env) }))
  if (serves('lane')) {
    const lanes = await laneWorkers(context)
    workers.push(...lanes.map((lane) => lane.worker))
    agents.push(...lanes.map((lane) => lane.agent))
    if (role === 'lane' && lanes.length === 0) throw new RelayerError('LANE_NONE', { detail: 'no lane in the config has a signer' })
  }
  const metrics = processMetrics(network, agents, settings)
  if (serves('ledger')) services.push(startWorkflowRecovery({ client: temporal.client, logger, metrics }))
  const haltRoute = createRouteHalts({ client: temporal.client, config, logger, metrics })
  if (serves('chain')) {
    for (const name of network.served) {
      const tuning = tuningFrom(config, options.env)
      const served = await createChainWorker(name, { config, temporal, network, settings, logger, metrics, tuning, haltRoute })
      workers.push(served.worker)
      services.push(...served.services)
      services.push(scheduleAudits({ client: temporal.client, config, chain: name, logger }))
    }
  }
  if (serves('intake')) services.push(startIntake({ config, temporal, network, settings, logger, metrics }))
  if (serves('intake')) services.push(startStreams({ config, temporal, network, settings, logger, metrics }))
  await startupServer?.close()
  if (serves('api')) services.push(await startApi({ config, temporal, network, settings, logger, metrics, feedsStreams: serves('intake') }))
  logger.info('running', { role, chains: network.served, lanes: agents.length, workers: ledgers.length + workers.length })
  return supervise({ ledgers, workers, agents, services, watch, temporal, network, logger })
}

async function laneWorkers(context: {
  config: Config
  options: RunOptions
  temporal: Temporal
  network: Network
  settings: () => Settings
}) {
  const { config, options, temporal, network, settings } = context
  const { env, logger } = options
  const fees = createFeePolicyResolver(config, settings)
  const updatesPerRun = env['PORTAGE_LANE_UPDATES_PER_RUN']
  const wanted = network.served.flatMap((chainName) => {
    const chain = config.chains[chainName]
    return (chain?.lanes ?? [])
      .filter((lane) => lane.signer && (!options.lanes || options.lanes.some((one) => one.toLowerCase() === lane.address)))
      .map((lane) => ({ chainName, chain: chain as NonNullable<typeof chain>, lane }))
  })
  warnOfTwins(wanted.map(({ chain, lane }) => idOf(chain, lane.address)))
  return Promise.all(
    wanted.map((one) =>
      createLaneWorker({
        ...one,
        config,
        temporal,
        network,
        settings,
        fees,
        logger,
        tuning: tuningFrom(config, env),
        ...(updatesPerRun && { updatesPerRun: Number(updatesPerRun) }),
      }),
    ),
  )
}

function warnOfTwins(lanes: readonly string[]): void {
  const twin = lanes.find((lane, index) => lanes.indexOf(lane) !== index)
  if (twin) throw new RelayerError('CONFIG_INVALID', { detail: 'one key is configured twice on one network', facts: { lane: twin } })
}

function supervise(parts: {
  ledgers: Worker[]
  workers: Worker[]
  agents: LaneAgent[]
  services: Service[]
  watch: Service
  temporal: Temporal
  network: Network
  logger: Logger
}): Running {
  const { ledgers, workers, agents, services, watch, temporal, network, logger } = parts
  let release = () => {}
  const told = new Promise<void>((resolve) => (release = resolve))
  const end = (some: readonly Worker[]) => some.forEach((worker) => worker.getState() === 'RUNNING' && worker.shutdown())
  const shutDown = () => {
    release()
    end(workers)
  }
  const stopServices = () => Promise.all(services.map((service) => service.stop()))
  const run = (worker: Worker) =>
    worker.run().catch((error: unknown) => {
      logger.error('a worker failed; stopping', { error: toRelayerError(error).message })
      shutDown()
      throw error
    })
  const [ledgersRun, workersRun] = [ledgers.map(run), workers.map(run)]
  const ended = async () => {
    const results = await Promise.allSettled([told, ...workersRun])
    // The ledgers last: steps that are ending may still ask them.
    end(ledgers)
    results.push(...(await Promise.allSettled(ledgersRun)))
    await stopServices()
    await watch.stop()
    for (const agent of agents) agent.stop()
    network.close()
    await temporal.connection.close()
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }
  const stopped = ended()
  return {
    stopped,
    stop: async () => {
      // Intake first: nothing new comes in while what runs ends.
      await stopServices()
      shutDown()
      await stopped
    },
  }
}
