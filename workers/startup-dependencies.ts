import { createStartupServer, type StartupServer } from '../api/startup-server.ts'
import type { Chain } from '../chains/port.ts'
import type { Config } from '../config/schema.ts'
import { toRelayerError } from '../domain/errors.ts'
import { createPatience, Stopped } from './retry-until-available.ts'
import type { Role, RunOptions } from './roles.ts'
import { type SettingsWatch, watchSettings } from '../temporal/client/settings-watch.ts'
import { connectTemporal, type Temporal } from './temporal.ts'
import { connectNetwork, type Network } from './network.ts'

/** What no role starts without. */
export interface StartupDependencies {
  readonly temporal: Temporal
  /** Empty for the ledgers: they read no chain. */
  readonly network: Network
  readonly watch: SettingsWatch
  /** Where the API is to listen: answers in its place while the process waits. */
  readonly startupServer: StartupServer | undefined
  close(): Promise<void>
}

const noNetwork: Network = { chains: new Map(), served: [], bridges: new Map(), close: () => {} }

/**
 * Temporal and the networks of a role, as soon as they are there; one of several networks is enough to begin. Undefined: it was stopped in the wait. Throws what waiting does not mend (INPUT_INVALID,
 * CHAIN_ID_MISMATCH), with nothing left open.
 */
export async function awaitStartupDependencies(role: Role, config: Config, options: RunOptions): Promise<StartupDependencies | undefined> {
  const { logger, stopping = new AbortController().signal, chains } = options
  const startupServer = role === 'all' || role === 'api' ? createStartupServer(config.api) : undefined
  const patience = createPatience({ logger, stopping, onWaiting: startupServer?.say })
  const keepTrying = (chain: Chain, closing: AbortSignal) => {
    const background = createPatience({ logger, stopping: AbortSignal.any([stopping, closing]) })
    background
      .until(`the nodes of ${chain.name}`, () => chain.connect())
      .catch((error: unknown) => {
        if (error instanceof Stopped) return
        const { code, message } = toRelayerError(error)
        logger.error('a chain stays out until this process is started again', { chain: chain.name, code, reason: message })
      })
  }
  let temporal: Temporal | undefined
  let network: Network | undefined
  let watch: SettingsWatch | undefined
  const close = async () => {
    await startupServer?.close()
    await watch?.stop()
    network?.close()
    // Of Workers that were made and never ran, it says that they hold it: then it ends with the process.
    await temporal?.connection.close().catch(() => {})
  }
  try {
    temporal = await patience.until('Temporal', () => connectTemporal(config.temporal, logger, { stopping, takeover: config.worker }))
    network =
      role === 'ledger'
        ? noNetwork
        : await patience.until('nodes', () => connectNetwork(config, { only: chains, stopping, onAway: keepTrying }))
    watch = await watchSettings({ client: temporal.client, logger })
    return { temporal, network, watch, startupServer, close }
  } catch (error) {
    await close()
    if (error instanceof Stopped) return undefined
    throw error
  }
}
