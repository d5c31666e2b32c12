import { Client, Connection } from '@temporalio/client'
import type { Config } from '../config/schema.ts'
import { whyAway } from '../workers/temporal-probe.ts'

const connectTimeoutMs = 5_000

/** Runs `use` with a client of the config's namespace and closes the connection. Throws TEMPORAL_UNAVAILABLE, TEMPORAL_TLS. */
export async function withClient<Result>(
  { temporal }: Pick<Config, 'temporal'>,
  use: (client: Client) => Promise<Result>,
): Promise<Result> {
  let connection: Connection
  try {
    connection = await Connection.connect({ address: temporal.address, connectTimeout: connectTimeoutMs })
  } catch (cause) {
    throw await whyAway(temporal.address, cause)
  }
  try {
    return await use(new Client({ connection, namespace: temporal.namespace }))
  } finally {
    await connection.close()
  }
}
