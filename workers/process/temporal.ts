import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { TemporalAccess } from '../../domain/temporal-access.ts'
import type { FailoverSettings } from '../../temporal/client/connection/failover.ts'
import type { Logger } from '../../observability/logger.ts'
import { dropDetails, sdkLine } from '../telemetry/sdk-log.ts'
import { withSdkMetrics } from '../telemetry/sdk-metrics.ts'
import type { ProcessTracing } from '../telemetry/tracing.ts'
import { probeTemporal } from '../../temporal/client/connection/probe.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { createTemporalClient } from '../../temporal/client/connection/connect.ts'
import { connectionOptions, readCredentials, type TemporalCredentials } from '../../temporal/client/connection/credentials.ts'
import { createEncryptionCodec, type EncryptionCodec } from '../../temporal/encryption/codec.ts'
import { redactText } from '../../observability/redact.ts'
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker'

export interface Temporal {
  readonly connection: NativeConnection
  readonly client: TemporalClient
  readonly namespace: string
  readonly codec: EncryptionCodec
  readonly credentials: TemporalCredentials
  /** Connects anew. Returns the old connection, still open. Throws TEMPORAL_UNAVAILABLE. */
  replace(credentials: TemporalCredentials): Promise<NativeConnection>
  replaceApiKey(credentials: TemporalCredentials & { readonly apiKey: string }): Promise<void>
}

/** Checks write access to the namespace. Throws as `probeTemporal`, and ENCRYPTION_KEY. */
export async function connectTemporal(
  target: TemporalAccess,
  logger: Logger,
  {
    stopping,
    failover,
    tracing,
  }: { readonly stopping?: AbortSignal; readonly failover?: FailoverSettings; readonly tracing?: ProcessTracing | undefined } = {},
): Promise<Temporal> {
  // Probed first: the native connection has less precise errors and cannot be stopped while it connects.
  const codec = createEncryptionCodec(target.encryption)
  await probeTemporal(target, { stopping, writes: true })
  // Installed after the probe: without a connection the runtime would keep the process alive.
  await installRuntime(logger)
  let credentials = readCredentials(target)
  let connection = await open(target, credentials)
  // The caller has given up.
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
    async replace(next) {
      const old = connection
      connection = await open(target, next)
      credentials = next
      return old
    },
    async replaceApiKey(next) {
      await connection.setApiKey(next.apiKey)
      credentials = next
    },
  }
}

async function open(target: TemporalAccess, credentials: TemporalCredentials): Promise<NativeConnection> {
  const { address, namespace } = target
  // On loopback compression costs more than it saves.
  const local = /^(127\.|localhost|\[::1\])/.test(address)
  try {
    return await NativeConnection.connect({
      ...connectionOptions(target, credentials),
      ...(local && { grpcCompression: { codec: 'none' as const } }),
    })
  } catch (cause) {
    const detail = redactText(cause instanceof Error ? cause.message : String(cause))
    throw new RelayerError('TEMPORAL_UNAVAILABLE', { detail, facts: { address, namespace }, cause })
  }
}

/** A connection that follows replacements: a client is made once. */
function following(current: () => NativeConnection): NativeConnection {
  // The target is no connection: a proxy may not change the read-only values of its target.
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
/** Of the latest connection. The SDK keeps its first logger, even for a runtime that it creates anew. */
let sdkLogger: Logger
/** Sends the SDK's log lines to this logger and turns on its metrics. Called before any connection or replay. */
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
      // Otherwise its native part writes to the console, not as JSON.
      telemetryOptions: { logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} }, ...(metrics && { metrics }) },
      // The process handles signals itself, so that its roles stop in sequence.
      shutdownSignals: [],
    }),
  )
  dropDetails(collector)
}
