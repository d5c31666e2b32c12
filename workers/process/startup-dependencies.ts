import type { Chain } from '../../chains/port.ts'
import type { Config } from '../../config/schema/schema.ts'
import { streamNames } from '../../bridges/configured-emitters.ts'
import { resolveTemporal } from '../../config/temporal-access.ts'
import { type ErrorCode, RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import { connectionExposure, payloadExposure } from '../../temporal/client/connection/exposure.ts'
import { type SettingsWatch, watchSettings } from '../../temporal/client/settings/settings-watch.ts'
import type { Logger } from '../../observability/logger.ts'
import { createVaaLookup } from '../../intake/submit/vaa-lookup.ts'
import { connectNetwork, type Network } from '../roles/network.ts'
import { holdsKeys, type Role, type RunOptions, serves } from '../roles/roles.ts'
import { connectTemporal, type Temporal } from './temporal.ts'
import type { ProcessTracing } from '../telemetry/otlp.ts'
import { backoffMs } from '../../domain/backoff.ts'
import { unlessAborted, Wait } from '../../runtime/wait.ts'

export type StartupDependencies = NonNullable<Awaited<ReturnType<typeof awaitStartupDependencies>>>

/** For the role `ledger`, which does not read chains. */
const noNetwork: Network = {
  chains: new Map(),
  served: [],
  bridges: new Map(),
  vaaLookup: createVaaLookup({ guardianApis: [], wormholescanApis: [] }),
  close: () => {},
}

/**
 * Connects to Temporal and to nodes, and repeats failed attempts. Returns undefined if `stopping` aborts first. Throws
 * INPUT_INVALID, CHAIN_ID_MISMATCH.
 */
export async function awaitStartupDependencies(
  role: Role,
  config: Config,
  options: RunOptions & {
    readonly tracing: ProcessTracing | undefined
    readonly onWaiting: (dependency: string, error: RelayerError) => void
  },
) {
  const { logger, stopping = new AbortController().signal, chains, api } = options
  const target = { ...resolveTemporal(config.temporal, options.env), streamNames: streamNames(config) }
  for (const open of [connectionExposure(target), payloadExposure(target)]) if (open) logger.warn(open.what, { code: open.code })
  const startupServer = serves(role, 'api') ? api.createStartupServer(config.api) : undefined
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
    const tariff = () => watch?.current().tariff ?? []
    const reach = () => connectNetwork(config, { only: chains, stopping, onAway, logger, runsPlugins: !holdsKeys(role), tariff })
    network = role === 'ledger' ? noNetwork : await retryUntilAvailable('nodes', reach, retry)
    watch = await watchSettings({ client: temporal.client, logger })
    return { temporal, target, network, watch, startupServer, close }
  } catch (error) {
    await close().catch(() => {})
    if (error instanceof Stopped) return undefined
    throw error
  }
}

function keepConnecting(chain: Chain, options: RetryOptions): void {
  retryUntilAvailable(`the nodes of ${chain.name}`, () => chain.connect(), options).catch((error: unknown) => {
    if (error instanceof Stopped) return
    const { code, message } = toRelayerError(error)
    options.logger.error('a chain stays disconnected until this process is restarted', { chain: chain.name, code, reason: message })
  })
}

const firstMs = 250
const longestMs = 5_000
/** Pause after Temporal refused the credentials, ms. More frequent tries might lock the client out. */
const refusedMs = 30_000
const refusals: ReadonlySet<ErrorCode> = new Set(['TEMPORAL_CERTIFICATE_REFUSED', 'TEMPORAL_API_KEY_REFUSED', 'TEMPORAL_PERMISSION'])
const logAgainMs = 5 * 60_000

export class Stopped extends Error {}

export interface RetryOptions {
  readonly logger: Logger
  readonly stopping: AbortSignal
  readonly onWaiting?: ((dependency: string, error: RelayerError) => Promise<void>) | undefined
}

export async function retryUntilAvailable<Value>(
  dependency: string,
  attempt: () => Promise<Value>,
  { logger, stopping, onWaiting }: RetryOptions,
): Promise<Value> {
  const since = performance.now()
  let logged: { code: string; at: number } | undefined
  for (let tries = 0; ; tries++) {
    let refused = false
    try {
      if (stopping.aborted) throw new Stopped()
      const value = await unlessAborted(stopping, attempt(), () => new Stopped())
      if (logged) logger.info(`the wait for ${dependency} is over`, { waitedSeconds: secondsSince(since) })
      return value
    } catch (error) {
      if (!(error instanceof RelayerError) || !error.retriable || error.code === 'INTERNAL') throw error
      const { code, message: reason } = error
      refused = refusals.has(code)
      if (logged?.code !== code || performance.now() - logged.at >= logAgainMs) {
        logger.warn(`waiting for ${dependency}; trying again`, { code, reason, waitedSeconds: secondsSince(since) })
        logged = { code, at: performance.now() }
      } else logger.debug(`still waiting for ${dependency}`, { code, reason, tries })
      await onWaiting?.(dependency, error)
    }
    const pauseMs = refused ? refusedMs : backoffMs(tries, firstMs, longestMs)
    const pause = new Wait<void>({ timeoutMs: pauseMs, signal: stopping }, () => pause.resolve())
    await pause.promise
  }
}

function secondsSince(at: number): number {
  return Math.round((performance.now() - at) / 1_000)
}
