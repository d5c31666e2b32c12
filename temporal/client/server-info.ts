import { searchAttributes } from '../contracts/names.ts'
import { isNamespaceMissing } from './errors.ts'
import { openConnection, type TemporalAddress } from './probe.ts'

/** A connection to a Temporal server that answers. Its methods throw what the server says. */
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
