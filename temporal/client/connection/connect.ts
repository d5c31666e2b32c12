import { Client, Connection, type ConnectionLike, type WorkflowClientInterceptor } from '@temporalio/client'
import { NamespaceNotFoundError, type PayloadCodec } from '@temporalio/common'
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow/index.js'
import { searchAttributes } from '../../contracts/names.ts'
import type { TemporalClient } from './client.ts'
import type { StreamNames } from '../../../domain/stream/stream.ts'
import type { TemporalAccess } from '../../../domain/temporal-access.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { connectionOptions, readCredentials } from './credentials.ts'
import { createEncryptionCodec } from '../../encryption/codec.ts'
import { detailOf, isNamespaceMissing, refusalCode } from './errors.ts'
import { checkHandshake } from './handshake.ts'
import { readableMemos, useReadableLists } from '../visibility/memos.ts'
import { connectionError, keyRefused } from './probe.ts'
import { retries } from './retries.ts'
import { failoverInterceptor, type FailoverSettings } from './failover.ts'

const connectTimeoutMs = 5_000

interface ClientOptions {
  readonly codec: PayloadCodec
  readonly streamNames?: StreamNames | undefined
  /** Absent: default time-outs. */
  readonly failover?: FailoverSettings | undefined
  readonly tracing?: WorkflowClientInterceptor | undefined
}

/** A client over a connection that the caller opens and closes. */
export function createTemporalClient(
  connection: ConnectionLike,
  namespace: string,
  { codec, streamNames, failover, tracing }: ClientOptions,
): TemporalClient {
  const dataConverter = loadDataConverter({ payloadCodecs: [codec] })
  const memos = readableMemos(dataConverter, namespace)
  const workflow = [...(tracing ? [tracing] : []), ...(failover ? [failoverInterceptor(failover)] : []), memos]
  const client = new Client({ connection, namespace, dataConverter, interceptors: { workflow } })
  useReadableLists(client)
  return Object.assign(client, { streamNames })
}

/** Runs `use` on a new connection. Throws as `probeTemporal`, ENCRYPTION_KEY, TEMPORAL_PERMISSION. */
export async function withTemporalClient<Result>(
  target: TemporalAccess & { readonly failover?: FailoverSettings },
  use: (client: TemporalClient) => Promise<Result>,
): Promise<Result> {
  const { address, namespace, streamNames, failover } = target
  const codec = createEncryptionCodec(target.encryption)
  const connection = await openConnection(target, connectTimeoutMs)
  try {
    return await use(createTemporalClient(connection, namespace, { codec, streamNames, failover }))
  } catch (error) {
    if (error instanceof NamespaceNotFoundError)
      throw new RelayerError('TEMPORAL_NAMESPACE', { facts: { address, namespace }, cause: error })
    const refused = refusalCode(error)
    throw refused ? new RelayerError(refused, { detail: detailOf(error), facts: { address, namespace }, cause: error }) : error
  } finally {
    await connection.close()
  }
}

/** The caller closes it. Throws TEMPORAL_UNAVAILABLE and the codes of rejected credentials. */
export async function openConnection(target: TemporalAccess, connectTimeout: number): Promise<Connection> {
  const credentials = readCredentials(target)
  // gRPC alone would not report the reason.
  await checkHandshake(target, credentials, { timeoutMs: connectTimeout, facts: { address: target.address } })
  try {
    return await Connection.connect({ ...connectionOptions(target, credentials), connectTimeout, interceptors: retries() })
  } catch (cause) {
    // Every accepted key may read the server's capabilities.
    if (refusalCode(cause) && credentials.apiKey !== undefined) throw keyRefused(credentials.apiKey, { address: target.address }, cause)
    throw await connectionError(target, credentials, cause)
  }
}

/** Its methods throw the server's errors. */
export type ServerInfo = Awaited<ReturnType<typeof connectServerInfo>>

/** Throws what `withTemporalClient` throws. */
export async function connectServerInfo(target: TemporalAccess, connectTimeoutMs: number) {
  const { namespace } = target
  const connection = await openConnection(target, connectTimeoutMs)
  const { workflowService, operatorService } = connection
  return {
    /** Undefined: the server does not report it. */
    version: async () => (await workflowService.getSystemInfo({})).serverVersion ?? undefined,
    /** Hours. Undefined: there is no such namespace. */
    async retentionHours() {
      try {
        const { config } = await workflowService.describeNamespace({ namespace })
        return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / 3600
      } catch (error) {
        if (isNamespaceMissing(error)) return undefined
        throw error
      }
    },
    /** Undefined: the server refuses the call, as Temporal Cloud does. */
    async missingSearchAttributes() {
      const listed = await operatorService.listSearchAttributes({ namespace }).catch((error: unknown) => {
        if (refusalCode(error)) return undefined
        throw error
      })
      if (!listed) return undefined
      const { customAttributes } = listed
      return Object.values(searchAttributes).flatMap(({ name }) => (customAttributes?.[name] === undefined ? [name] : []))
    },
    close: () => connection.close(),
  }
}
