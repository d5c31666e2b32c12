import type { Config } from '../config/schema.ts'
import { RelayerError } from '../domain/errors.ts'
import type { TakeoverSettings } from '../temporal/client/takeover.ts'
import type { Logger } from '../observability/logger.ts'
import { sdkLine } from './sdk-lines.ts'
import { probeTemporal } from '../temporal/client/probe.ts'
import type { TemporalClient } from '../temporal/client/client.ts'
import { createTemporalClient } from '../temporal/client/connect.ts'
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker'

export interface Temporal {
  readonly connection: NativeConnection
  readonly client: TemporalClient
  readonly namespace: string
}

/** Connects to the Temporal server, and checks that it has the namespace. Throws as `probeTemporal`. */
export async function connectTemporal(
  { address, namespace }: Config['temporal'],
  logger: Logger,
  { stopping, takeover }: { readonly stopping?: AbortSignal; readonly takeover?: TakeoverSettings } = {},
): Promise<Temporal> {
  // The native connection has less precise errors, and cannot be stopped while it connects.
  await probeTemporal({ address, namespace }, { stopping })
  // Only now: without a connection the runtime would keep the process alive; it ends with its last one.
  installRuntime(logger)
  try {
    // On loopback compression costs more than it saves.
    const local = /^(127\.|localhost|\[::1\])/.test(address)
    const connection = await NativeConnection.connect({ address, ...(local && { grpcCompression: { codec: 'none' } }) })
    // The caller has given up.
    if (stopping?.aborted) await connection.close()
    return { connection, namespace, client: createTemporalClient(connection, namespace, takeover) }
  } catch (error) {
    throw new RelayerError('TEMPORAL_UNAVAILABLE', { facts: { address, namespace }, cause: error })
  }
}

let installed = false

/** Sends the log lines of the SDK to our logger; once per process, before any connection. */
function installRuntime(logger: Logger): void {
  if (installed) return
  installed = true
  Runtime.install({
    logger: new DefaultLogger('INFO', (entry) => {
      const { level, fields } = sdkLine(entry)
      logger[level](entry.message, fields)
    }),
    // Otherwise its native part writes to the console, and not as JSON.
    telemetryOptions: { logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} } },
    // The process handles signals itself, so that its roles stop in order.
    shutdownSignals: [],
  })
}
