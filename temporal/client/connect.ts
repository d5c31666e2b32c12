import { Client } from '@temporalio/client'
import type { TemporalClient } from './client.ts'
import { openConnection, type TemporalAddress } from './probe.ts'
import { takeoverInterceptor, type TakeoverSettings } from './takeover.ts'

const connectTimeoutMs = 5_000

/** What a client needs of a connection, this module's or a worker's. */
export type TemporalConnection = NonNullable<NonNullable<ConstructorParameters<typeof Client>[0]>['connection']>

/** A client over a connection that somebody else opens and closes. @param takeover absent: the workflows that it starts have the default time-outs */
export function createTemporalClient(connection: TemporalConnection, namespace: string, takeover?: TakeoverSettings): TemporalClient {
  return new Client({ connection, namespace, ...(takeover && { interceptors: { workflow: [takeoverInterceptor(takeover)] } }) })
}

/** Runs `use` with a client of a connection of its own, and closes the connection. Throws TEMPORAL_UNAVAILABLE, TEMPORAL_TLS. */
export async function withTemporalClient<Result>(
  { address, namespace, takeover }: TemporalAddress & { readonly takeover?: TakeoverSettings },
  use: (client: TemporalClient) => Promise<Result>,
): Promise<Result> {
  const connection = await openConnection(address, connectTimeoutMs)
  try {
    return await use(createTemporalClient(connection, namespace, takeover))
  } finally {
    await connection.close()
  }
}
