import { Client, Connection, type ConnectionLike } from '@temporalio/client'
import { searchAttributes } from '../contracts/names.ts'
import type { TemporalClient } from './client.ts'
import { isNamespaceMissing } from './errors.ts'
import { connectionError, type TemporalAddress } from './probe.ts'
import { takeoverInterceptor, type TakeoverSettings } from './takeover.ts'

const connectTimeoutMs = 5_000

/** A client over a connection that somebody else opens and closes. @param takeover absent: the workflows that it starts have the default time-outs */
export function createTemporalClient(connection: ConnectionLike, namespace: string, takeover?: TakeoverSettings): TemporalClient {
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

/** Opens a connection. Throws TEMPORAL_UNAVAILABLE, TEMPORAL_TLS. */
async function openConnection(address: string, connectTimeout: number): Promise<Connection> {
  try {
    return await Connection.connect({ address, connectTimeout })
  } catch (cause) {
    throw await connectionError(address, cause)
  }
}

/** A server that answers. Its methods throw what the server says. */
export type ServerInfo = Awaited<ReturnType<typeof connectServerInfo>>

/** Connects to a server. Throws TEMPORAL_UNAVAILABLE, TEMPORAL_TLS. */
export async function connectServerInfo({ address, namespace }: TemporalAddress, connectTimeoutMs: number) {
  const connection = await openConnection(address, connectTimeoutMs)
  const { workflowService, operatorService } = connection
  return {
    /** Undefined: the server does not say. */
    version: async () => (await workflowService.getSystemInfo({})).serverVersion ?? undefined,
    /** How long closed workflows are kept, hours; undefined: there is no such namespace. */
    async retentionHours() {
      try {
        const { config } = await workflowService.describeNamespace({ namespace })
        return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / 3600
      } catch (error) {
        if (isNamespaceMissing(error)) return undefined
        throw error
      }
    },
    /** The search attributes of Portage that the namespace does not have, by name. */
    async missingSearchAttributes() {
      const { customAttributes } = await operatorService.listSearchAttributes({ namespace })
      return Object.values(searchAttributes).flatMap(({ name }) => (customAttributes?.[name] === undefined ? [name] : []))
    },
    close: () => connection.close(),
  }
}
