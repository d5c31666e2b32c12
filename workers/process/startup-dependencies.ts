import type { Chain } from '../../chains/port.ts'
import type { Config } from '../../config/schema/schema.ts'
import { streamNames } from '../../bridges/registry.ts'
import { resolveTemporal } from '../../config/temporal-access.ts'
import { type RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import { connectionExposure, payloadExposure } from '../../temporal/client/connection/exposure.ts'
import { type SettingsWatch, watchSettings } from '../../temporal/client/settings/settings-watch.ts'
import type { TemporalAccess } from '../../domain/temporal-access.ts'
import type { Logger } from '../../observability/logger.ts'
import { connectNetwork, type Network } from '../roles/network.ts'
import type { Role, RunOptions, StartupServer } from '../roles/roles.ts'
import { retryUntilAvailable, type RetryOptions, Stopped } from './retry-until-available.ts'
import { connectTemporal, type Temporal } from './temporal.ts'
import type { ProcessTracing } from '../telemetry/tracing.ts'

export interface StartupDependencies {
  readonly temporal: Temporal
  readonly target: TemporalAccess
  /** Empty for the role `ledger`, which reads no chain. */
  readonly network: Network
  readonly watch: SettingsWatch
  readonly startupServer: StartupServer | undefined
  close(): Promise<void>
}

const noNetwork: Network = { chains: new Map(), served: [], bridges: new Map(), close: () => {} }

/** Connects Temporal and the chains; one is enough. Undefined: stopped. Throws INPUT_INVALID, CHAIN_ID_MISMATCH. */
export async function awaitStartupDependencies(
  role: Role,
  config: Config,
  options: RunOptions & {
    readonly tracing: ProcessTracing | undefined
    readonly onWaiting: (dependency: string, error: RelayerError) => void
  },
): Promise<StartupDependencies | undefined> {
  const { logger, stopping = new AbortController().signal, chains, api } = options
  const target = { ...resolveTemporal(config.temporal, options.env), streamNames: streamNames(config) }
  warnOfOpenness(target, logger)
  const startupServer = role === 'all' || role === 'api' ? api.createStartupServer(config.api) : undefined
  const onWaiting = async (dependency: string, error: RelayerError) => {
    options.onWaiting(dependency, error)
    await startupServer?.say(dependency, error)
  }
  const retry = { logger, stopping, onWaiting }
  const onAway = (chain: Chain, closing: AbortSignal) => keepConnecting(chain, { logger, stopping: AbortSignal.any([stopping, closing]) })
  let temporal: Temporal | undefined
  let network: Network | undefined
  let watch: SettingsWatch | undefined
  const close = async () => {
    await startupServer?.close()
    await watch?.stop()
    network?.close()
    await temporal?.connection.close()
  }
  try {
    const connect = () => connectTemporal(target, logger, { stopping, failover: config.worker, tracing: options.tracing })
    temporal = await retryUntilAvailable('Temporal', connect, retry)
    network =
      role === 'ledger'
        ? noNetwork
        : await retryUntilAvailable('nodes', () => connectNetwork(config, { only: chains, stopping, onAway, logger }), retry)
    watch = await watchSettings({ client: temporal.client, logger })
    return { temporal, target, network, watch, startupServer, close }
  } catch (error) {
    await close().catch(() => {})
    if (error instanceof Stopped) return undefined
    throw error
  }
}

function warnOfOpenness(target: TemporalAccess, logger: Logger): void {
  for (const open of [connectionExposure(target), payloadExposure(target)]) if (open) logger.warn(open.what, { code: open.code })
}

function keepConnecting(chain: Chain, options: RetryOptions): void {
  retryUntilAvailable(`the nodes of ${chain.name}`, () => chain.connect(), options).catch((error: unknown) => {
    if (error instanceof Stopped) return
    const { code, message } = toRelayerError(error)
    options.logger.error('a chain stays disconnected until this process is restarted', { chain: chain.name, code, reason: message })
  })
}
