import { Connection } from '@temporalio/client'
import { searchAttributes } from '../contracts/names.ts'
import { isNamespaceMissing } from './errors.ts'
import type { TemporalAddress } from './probe.ts'
import { connectionError } from './probe.ts'

/** A connection to a Temporal server that answers. Its methods throw what the server says. */
export interface ServerInfo {
  /** Undefined: the server does not say. */
  version(): Promise<string | undefined>
  /** How long closed workflows are kept, hours; undefined: there is no such namespace. */
  retentionHours(): Promise<number | undefined>
  /** The search attributes of Portage that the namespace does not have, by name. */
  missingSearchAttributes(): Promise<string[]>
  close(): Promise<void>
}

/** Connects to a server. Throws TEMPORAL_UNAVAILABLE, TEMPORAL_TLS. */
export async function connectServerInfo({ address, namespace }: TemporalAddress, connectTimeout: number): Promise<ServerInfo> {
  let connection: Connection
  try {
    connection = await Connection.connect({ address, connectTimeout })
  } catch (cause) {
    throw await connectionError(address, cause)
  }
  const { workflowService, operatorService } = connection
  return {
    version: async () => (await workflowService.getSystemInfo({})).serverVersion ?? undefined,
    async retentionHours() {
      try {
        const { config } = await workflowService.describeNamespace({ namespace })
        return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / 3600
      } catch (error) {
        if (isNamespaceMissing(error)) return undefined
        throw error
      }
    },
    async missingSearchAttributes() {
      const { customAttributes } = await operatorService.listSearchAttributes({ namespace })
      return Object.values(searchAttributes).flatMap(({ name }) => (customAttributes?.[name] === undefined ? [name] : []))
    },
    close: () => connection.close(),
  }
}
