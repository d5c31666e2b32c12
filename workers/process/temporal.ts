import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { TemporalAccess } from '../../domain/temporal-access.ts'
import type { FailoverSettings } from '../../temporal/client/connection/failover.ts'
import type { Logger } from '../../observability/logger.ts'
import { dropDetails, sdkLine } from '../telemetry/sdk-lines.ts'
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
  /** As it is now: another one after `replace`. */
  readonly connection: NativeConnection
  /** Uses the connection as it is at each call. */
  readonly client: TemporalClient
  readonly namespace: string
  /** Of everything that goes through this connection. */
  readonly codec: EncryptionCodec
  /** What the connection was made with. */
  readonly credentials: TemporalCredentials
  /** Connects with these and goes on with the new connection; the old one is returned and still open. Throws TEMPORAL_UNAVAILABLE. */
  replace(credentials: TemporalCredentials): Promise<NativeConnection>
  /** The same connection, with another API key for every later call. */
  replaceApiKey(credentials: TemporalCredentials & { readonly apiKey: string }): Promise<void>
}

/** Connects to the Temporal server, and checks that it has the namespace and lets us write there. Throws as `probeTemporal`, and ENCRYPTION_KEY. */
export async function connectTemporal(
  target: TemporalAccess,
  logger: Logger,
  {
    stopping,
    failover,
    tracing,
  }: { readonly stopping?: AbortSignal; readonly failover?: FailoverSettings; readonly tracing?: ProcessTracing | undefined } = {},
): Promise<Temporal> {
  // The native connection has less precise errors, and cannot be stopped while it connects.
  const codec = createEncryptionCodec(target.encryption)
  await probeTemporal(target, { stopping, writes: true })
  // Only now: without a connection the runtime would keep the process alive; it ends with its last one.
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

/** A connection that is at each use the one of that moment: a client is made once, and its connection may be replaced. */
function following(current: () => NativeConnection): NativeConnection {
  // Not of a connection itself: a proxy may not give another value for what its target holds as read-only.
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
/** Of the latest connection: the SDK keeps the logger that it got first, also for the runtime that it makes anew after its last connection has closed. */
let sdkLogger: Logger
/** Sends the log lines of the SDK to this logger, from now on, and has it keep metrics; before any connection or replay. */
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
      // Otherwise its native part writes to the console, and not as JSON.
      telemetryOptions: { logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} }, ...(metrics && { metrics }) },
      // The process handles signals itself, so that its roles stop in order.
      shutdownSignals: [],
    }),
  )
  dropDetails(collector)
}
