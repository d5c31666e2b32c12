import { isErrorCode, RelayerError } from '../../domain/catalogue/errors.ts'
import type { TemporalAccess } from '../../domain/temporal-access.ts'
import type { Logger, WarningFields } from '../../observability/logger.ts'
import { withSdkMetrics } from '../telemetry/sdk-metrics.ts'
import type { ProcessTracing } from '../telemetry/otlp.ts'
import { probeTemporal } from '../../temporal/client/connection/probe.ts'
import { createTemporalClient, type FailoverSettings } from '../../temporal/client/connection/connect.ts'
import { connectionOptions, readCredentials, type TemporalCredentials } from '../../temporal/client/connection/credentials.ts'
import { createEncryptionCodec } from '../../temporal/encryption/codec.ts'
import { detailOf } from '../../temporal/client/connection/errors.ts'
import { DefaultLogger, type LogEntry, type Logger as SdkLogger, NativeConnection, Runtime } from '@temporalio/worker'
import type { Code } from '../../domain/catalogue/catalogue.ts'
import { asLogged } from '../../observability/severity.ts'
import { ApplicationFailure } from '@temporalio/common'
import { isDeepStrictEqual } from 'node:util'

export type Temporal = Awaited<ReturnType<typeof connectTemporal>>

/** Connects to Temporal, and checks write access. Throws ENCRYPTION_KEY and the errors of `probeTemporal`. */
export async function connectTemporal(
  target: TemporalAccess,
  logger: Logger,
  options: { readonly stopping?: AbortSignal; readonly failover?: FailoverSettings; readonly tracing?: ProcessTracing | undefined } = {},
) {
  const { stopping, failover, tracing } = options
  // The probe comes first: the native connection has less precise errors, and cannot be stopped while it connects.
  const codec = createEncryptionCodec(target.encryption)
  await probeTemporal(target, { stopping, writes: true })
  // The runtime comes after the probe, because a runtime without a connection would keep the process alive.
  await installRuntime(logger)
  let credentials = readCredentials(target)
  let connection = await open(target, credentials)
  if (stopping?.aborted) await connection.close()
  const { namespace, streamNames } = target
  return {
    get connection() {
      return connection
    },
    get credentials() {
      return credentials
    },
    namespace,
    codec,
    client: createTemporalClient(
      following(() => connection),
      namespace,
      { codec, streamNames, failover, tracing: tracing?.client },
    ),
    /**
     * Adopts new credentials. Returns the old connection, which is still open, or undefined if this connection could
     * take a new API key. Throws TEMPORAL_UNAVAILABLE.
     */
    async use(next: TemporalCredentials): Promise<NativeConnection | undefined> {
      const { tls, apiKey } = next
      const old = connection
      if (apiKey !== undefined && isDeepStrictEqual(tls, credentials.tls)) await connection.setApiKey(apiKey)
      else connection = await open(target, next)
      credentials = next
      return connection === old ? undefined : old
    },
  }
}

async function open(target: TemporalAccess, credentials: TemporalCredentials): Promise<NativeConnection> {
  const { address, namespace } = target
  // Over loopback, compression takes more time than it saves.
  const local = /^(127\.|localhost|\[::1\])/.test(address)
  try {
    return await NativeConnection.connect({
      ...connectionOptions(target, credentials),
      ...(local && { grpcCompression: { codec: 'none' as const } }),
    })
  } catch (cause) {
    throw new RelayerError('TEMPORAL_UNAVAILABLE', { detail: detailOf(cause), facts: { address, namespace }, cause })
  }
}

/** A proxy of the current connection, because the client is created once and its connection may be replaced. */
function following(current: () => NativeConnection): NativeConnection {
  // A proxy may not change read-only values of its target, so the target is an empty object.
  return new Proxy(Object.create(NativeConnection.prototype) as NativeConnection, {
    has: (_, name) => Reflect.has(current(), name),
    get(_, name) {
      const connection = current()
      const member: unknown = Reflect.get(connection, name, connection)
      return typeof member === 'function' ? (member.bind(connection) as unknown) : member
    },
  })
}

let installed = false
/** The latest logger, read for each line, because the SDK would use its first logger even for a later runtime. */
let sdkLogger: Logger
export async function installRuntime(logger: Logger): Promise<void> {
  sdkLogger = logger
  if (installed) return
  installed = true
  const { logger: collector } = await withSdkMetrics((metrics) =>
    Runtime.install({
      logger: new DefaultLogger('INFO', (entry) => {
        const line = sdkLine(entry)
        if (line.level === 'debug' || line.level === 'info') sdkLogger[line.level](entry.message, line.fields)
        else sdkLogger[line.level](entry.message, line.fields)
      }),
      // Without `forward`, the SDK's native part writes lines that are not JSON to the console.
      telemetryOptions: { logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} }, ...(metrics && { metrics }) },
      // The process handles signals itself, so that its roles stop one after another.
      shutdownSignals: [],
    }),
  )
  dropDetails(collector)
}

const levels = { TRACE: 'debug', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const

/** Lines that report an intended state: queues of lanes have no workflows, and the queue `ledger` has no activities. */
const byDesign = /^No (activities|workflows) registered, not polling/

/** The SDK's lines about retries get the level debug, because the settings watch logs an outage. */
const retries = 'temporalio_client::retry'

const ofWorkflow = ['namespace', 'taskQueue', 'workflowId', 'workflowType', 'sdkComponent'] as const

type SdkLine =
  | { readonly level: 'debug'; readonly fields: Record<string, unknown> }
  | { readonly level: 'info'; readonly fields: Record<string, unknown> }
  | { readonly level: 'warn' | 'error'; readonly fields: WarningFields }

/** Level and fields of a line of the SDK. The SDK would log each failed activity as a warning. */
export function sdkLine({ level, message, meta = {} }: Pick<LogEntry, 'level' | 'message' | 'meta'>): SdkLine {
  const { taskToken: _, ...given } = meta as Record<string, unknown>
  const { error, ...fields } = given
  if (given['sdkComponent'] === 'workflow' && typeof given['transfer'] === 'string') return transferLine(level, given)
  if (byDesign.test(message) || fields['target'] === retries) return { level: 'debug' as const, fields: given }
  if (error instanceof ApplicationFailure && isErrorCode(error.type)) {
    const logged = asLogged({ code: error.type, message: error.message }, error)
    return { level: logged.level, fields: { ...fields, ...logged.fields } }
  }
  const shown = levels[level]
  if (shown === 'debug') return { level: shown, fields: given }
  return { level: shown, fields: { code: error === undefined ? 'TEMPORAL_SDK' : 'INTERNAL', ...given } }
}

function transferLine(level: LogEntry['level'], given: Record<string, unknown>): SdkLine {
  const { runId, ...fields } = Object.fromEntries(
    Object.entries(given).filter(([name]) => !(ofWorkflow as readonly string[]).includes(name)),
  )
  if (level !== 'WARN') return { level: 'info', fields: { ...fields, run_id: runId } }
  return { level: 'warn', fields: { ...fields, code: (fields['code'] ?? 'INTERNAL') as Code, run_id: runId } }
}

/** Drops the SDK's lines below INFO, because the runtime would store and sort about twenty of them per transfer. */
export function dropDetails(collector: Pick<SdkLogger, 'trace' | 'debug'>): void {
  collector.trace = collector.debug = () => {}
}
