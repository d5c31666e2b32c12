import { startTemporal, type TemporalOptions, type TemporalServer } from '../../lab/devnet/temporal/temporal.ts'
import { silentLogger } from '../../observability/logger.ts'
import { connectTemporal, type Temporal } from '../../workers/process/temporal.ts'
import { cleanUp } from './clean-up.ts'

/** Starts a Temporal server in memory. It runs until the test ends or, outside a test, until the file ends. */
export async function startTestTemporal(options: TemporalOptions = {}): Promise<TemporalServer> {
  const server = await startTemporal({ inMemory: true, headless: true, log: () => {}, ...options })
  cleanUp(() => server.stop())
  return server
}

/** Starts a server like `startTestTemporal`, and connects to it as a Portage process does. */
export async function connectTestTemporal(
  options: TemporalOptions = {},
  logger = silentLogger(),
): Promise<{ server: TemporalServer; temporal: Temporal }> {
  const server = await startTestTemporal(options)
  const temporal = await connectTemporal({ address: server.address, namespace: server.namespace }, logger)
  cleanUp(() => temporal.connection.close())
  return { server, temporal }
}
