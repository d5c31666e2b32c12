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

/** Connects to the Temporal server, which has the namespace. Throws as `probeTemporal`. */
export async function connectTemporal(
  { address, namespace }: Config['temporal'],
  logger: Logger,
  { stopping, takeover }: { readonly stopping?: AbortSignal; readonly takeover?: TakeoverSettings } = {},
): Promise<Temporal> {
  // The native connection says less of what is wrong, and cannot be stopped while it waits.
  await probeTemporal({ address, namespace }, { stopping })
  // Not before: it ends with its last connection, and without any it would keep the process.
  installRuntime(logger)
  try {
    // On loopback, compressing costs more than it saves.
    const local = /^(127\.|localhost|\[::1\])/.test(address)
    const connection = await NativeConnection.connect({ address, ...(local && { grpcCompression: { codec: 'none' } }) })
    // Nobody waits for it any more.
    if (stopping?.aborted) await connection.close()
    return { connection, namespace, client: createTemporalClient(connection, namespace, takeover) }
  } catch (error) {
    throw new RelayerError('TEMPORAL_UNAVAILABLE', { facts: { address, namespace }, cause: error })
  }
}

let installed = false

/** The SDK's own lines go where ours go; once per process, before any connection. */
function installRuntime(logger: Logger): void {
  if (installed) return
  installed = true
  Runtime.install({
    logger: new DefaultLogger('INFO', (entry) => {
      const { level, fields } = sdkLine(entry)
      logger[level](entry.message, fields)
    }),
    // Else its native part writes lines of its own to the console, which are no JSON.
    telemetryOptions: { logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} } },
    // Signals are ours to handle: roles stop in order.
    shutdownSignals: [],
  })
}
