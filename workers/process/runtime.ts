import { receiversOf } from '../../config/receivers.ts'
import { accessSource } from '../../config/data-folder.ts'
import type { Config } from '../../config/schema/schema.ts'
import type { LocalLane } from '../../activities/deps.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { LaneId } from '../../domain/lane/lane.ts'
import { createMetrics, type Metrics } from '../../observability/metrics.ts'
import { startWorkflowRecovery } from '../../temporal/recovery/workflow-recovery.ts'
import { type Admin, openAdmin } from '../roles/admin.ts'
import { createChainWorker, createLedgerWorker } from '../roles/chain.ts'
import { createContext } from '../roles/context.ts'
import { createRequestsOf, openProvider } from '../roles/executor.ts'
import { beginVersion, deploymentOf, watchDeployment } from './deployment.ts'
import { auditHere, startIntake } from '../roles/intake.ts'
import { createLaneWorker, signingLanes } from '../roles/lane.ts'
import { createNotificationWork } from '../roles/notifications.ts'
import { watchPolls } from './poll-watch.ts'
import { settingsInForce } from '../roles/settings-in-force.ts'
import { keepSettings } from '../roles/settings-keeper.ts'
import { applyNodeChanges } from '../roles/network.ts'
import { processMetrics } from '../telemetry/process-metrics.ts'
import type { Service } from '../../runtime/wait.ts'
import type { Worker } from '@temporalio/worker'
import { type Role, type RunOptions, serves } from '../roles/roles.ts'
import { awaitStartupDependencies, type StartupDependencies } from './startup-dependencies.ts'
import { spendingNotices } from '../roles/lane-notices.ts'
import { topUps } from '../roles/top-ups.ts'
import { type ProcessWork, type Running, stopWork, supervise } from './supervise.ts'
import { watchCredentials } from './temporal-credentials.ts'
import type { ProcessTracing } from '../telemetry/otlp.ts'
import { tuningFrom } from './create-worker.ts'
import type { Logger } from '../../observability/logger.ts'
import { useTracing } from '../../observability/tracing.ts'

/**
 * Starts a role once Temporal and, except for `ledger`, at least one chain answer. Throws errors of config and keys,
 * and ADMIN_LISTEN.
 */
export async function runRole(role: Role, config: Config, options: RunOptions): Promise<Running> {
  const { env, logger } = options
  if (role === 'all') demandNoPlugins(config)
  const metrics = createMetrics()
  const tracing = await startTracing(config.telemetry, { role, env, logger })
  const admin = await openAdmin(config, { role, chains: options.chains, metrics, logger })
  const work: ProcessWork = { ledgers: [], workers: [], agents: [], services: [], failure: new AbortController() }
  let dependencies: StartupDependencies | undefined
  try {
    dependencies = await awaitStartupDependencies(role, config, { ...options, tracing, onWaiting: admin.waitsFor })
    if (!dependencies) {
      await admin.close()
      return { stopped: Promise.resolve(), stop: () => Promise.resolve() }
    }
    admin.starts()
    const { close, temporal } = dependencies
    const version = await beginVersion(config, temporal.client)
    await startRole(role, config, { ...options, metrics, admin, tracing }, dependencies, work)
    const closeAll = async () => {
      try {
        await close()
      } finally {
        await tracing?.close()
        await admin.close()
      }
    }
    const running = supervise(work, { onStop: admin.stopping, close: closeAll, logger })
    // A process without Workers has no version. Errors of `stop` are ignored here, because `stopped` reports them.
    if (version && work.ledgers.length + work.workers.length > 0)
      work.services.push(
        watchDeployment({ ...version, client: temporal.client, logger, onDrained: () => void running.stop().catch(() => {}) }),
      )
    return running
  } catch (error) {
    await stopWork(work)
    // If no Worker ever ran, the connection cannot be closed before the process ends.
    await dependencies?.close().catch(() => {})
    await admin.close()
    throw error
  }
}

/** A process with a key may not run code of plug-ins. Without keys (shadow mode), one process may do everything. */
function demandNoPlugins({ bridges, chains }: Config): void {
  const withKeys = Object.values(chains).some(({ shadow, lanes }) => !shadow && lanes.some(({ signer }) => signer))
  if (!bridges.plugins || !withKeys) return
  const detail =
    'The role all would run the code of plug-ins in the process with the keys. Run two processes: portage run --role keyless, and portage run --role lane.'
  throw new RelayerError('INPUT_INVALID', { detail, facts: { plugins: Object.keys(bridges.plugins).join(', ') } })
}

async function startRole(
  role: Role,
  config: Config,
  options: RunOptions & { readonly metrics: Metrics; readonly admin: Admin; readonly tracing: ProcessTracing | undefined },
  { temporal, target, network, watch, startupServer }: StartupDependencies,
  work: ProcessWork,
): Promise<void> {
  const { logger, api } = options
  const { ledgers, workers, agents, services } = work
  const localLanes = new Map<LaneId, LocalLane>()
  const add = (started: { readonly worker: Worker; readonly services: readonly Service[] }) => {
    workers.push(started.worker)
    services.push(...started.services)
  }
  applyNodeChanges(watch, network.chains, logger)
  const settings = settingsInForce(watch, { config, logger })
  const metrics = processMetrics(network, agents, settings, options.metrics)
  const context = createContext({ config, client: temporal.client, network, settings, logger, metrics })
  const hosting = { temporal, tuning: tuningFrom(config, options.env), tracing: options.tracing, deployment: deploymentOf(config) }

  const { client } = temporal
  services.push(await keepSettings({ config, client, namespace: target.namespace, watch, logger, role }))
  if (serves(role, 'ledger')) {
    ledgers.push(await createLedgerWorker({ ...hosting, logger }))
    services.push(startWorkflowRecovery(context))
    const receivers = receiversOf(config, options.env)
    if (receivers.size > 0) add(await createNotificationWork(context, hosting, { receivers }))
  }
  if (serves(role, 'lane')) {
    const lanes = signingLanes(context, options.lanes)
    if (role === 'lane' && lanes.length === 0)
      throw new RelayerError('LANE_NONE', { detail: 'no lane in the config has a signer, or their chains are in shadow mode' })
    const started = await Promise.all(lanes.map((lane) => createLaneWorker(lane, context, hosting)))
    workers.push(...started.map(({ worker }) => worker))
    agents.push(...started.map(({ agent }) => agent))
    services.push(...spendingNotices(context, agents), ...topUps(context, agents))
    for (const { agent, local } of started) if (local) localLanes.set(agent.lane, local)
  }
  if (serves(role, 'chain')) {
    for (const name of network.served) add(await createChainWorker(name, context, hosting, localLanes))
  }
  const polls = watchPolls([...ledgers, ...workers], logger, work.failure, hosting.tuning)
  services.push(watchCredentials({ target, temporal, workers: [...ledgers, ...workers], logger }), polls)
  const intake = serves(role, 'intake') ? startIntake(context) : undefined
  if (intake) services.push(intake)
  await startupServer?.close()
  if (serves(role, 'api'))
    services.push(
      await api.start({
        ...context,
        access: accessSource(config),
        feedsStreams: serves(role, 'intake'),
        ...{ spies: intake?.spies, executor: await openProvider(context), requestsOf: createRequestsOf(context) },
        spending: () => agents.map(({ lane, spending }) => ({ lane, spending })),
        auditStream: (stream, stopping) => auditHere(context, stream, { stopping }),
      }),
    )
  options.admin.started({ client, network, agents, spies: intake?.spies, unpolled: polls.unpolled })
  logger.info('running', { role, chains: network.served, lanes: agents.length, workers: ledgers.length + workers.length })
}

/** Starts to send traces. Without an endpoint, or with OTEL_SDK_DISABLED, loads no library and returns undefined. */
export async function startTracing(
  { otlpEndpoint, traceRatio }: Config['telemetry'],
  { role, env, logger }: { readonly role: Role; readonly env: NodeJS.ProcessEnv; readonly logger: Logger },
): Promise<ProcessTracing | undefined> {
  const named = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? env['OTEL_EXPORTER_OTLP_ENDPOINT']
  const isOff = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true'
  if (isOff || (!named && otlpEndpoint === undefined)) return undefined
  const { createTracing } = await import('../telemetry/otlp.ts')
  // If the environment names an endpoint, none is passed, because the exporter itself reads the environment.
  const tracing = createTracing({ endpoint: named ? undefined : otlpEndpoint, ratio: traceRatio, role, logger })
  useTracing(tracing)
  logger.info('traces are sent over OTLP', { by: named ? 'the environment' : 'telemetry.otlpEndpoint', ratio: traceRatio })
  return tracing
}
