import { connect as connectTls } from 'node:tls'
import type { Config } from '../config/schema.ts'
import type { Facts } from '../domain/errors.ts'
import { RelayerError } from '../domain/errors.ts'
import { redactText } from '../observability/redact.ts'
import { Connection, isGrpcServiceError, ServiceError } from '@temporalio/client'
import { NamespaceNotFoundError } from '@temporalio/common'

/** Longest wait for a connection, and for an answer, ms. */
const timeoutMs = 5_000
/** The same for the greeting of TLS, ms. */
const tlsTimeoutMs = 2_000
/** gRPC's code of an unknown namespace. */
const notFound = 5

/**
 * Does a Temporal server answer at the address, and has it the namespace? Throws TEMPORAL_UNAVAILABLE, TEMPORAL_TLS (who answers wants TLS),
 * TEMPORAL_NAMESPACE, all of them retriable: a server may be on its way up, and its namespace be made after it.
 * @param stopping ends it at once
 */
export async function probeTemporal({ address, namespace }: Config['temporal'], stopping?: AbortSignal): Promise<void> {
  const facts = { address, namespace }
  const connection = Connection.lazy({ address, connectTimeout: timeoutMs })
  const leave = () => void connection.close().catch(() => {})
  stopping?.addEventListener('abort', leave)
  try {
    await connection.ensureConnected()
    await connection.withDeadline(Date.now() + timeoutMs, () => connection.workflowService.describeNamespace({ namespace }))
  } catch (error) {
    if (isNoNamespace(error)) throw new RelayerError('TEMPORAL_NAMESPACE', { facts, cause: error })
    throw stopping?.aborted ? error : await whyAway(address, error, facts)
  } finally {
    stopping?.removeEventListener('abort', leave)
    await connection.close().catch(() => {})
  }
}

/** What a failed connection means: TEMPORAL_TLS if TLS is spoken at the address, else TEMPORAL_UNAVAILABLE. */
export async function whyAway(address: string, cause: unknown, facts: Facts = { address }): Promise<RelayerError> {
  if (await wantsTls(address)) return new RelayerError('TEMPORAL_TLS', { facts, cause })
  return new RelayerError('TEMPORAL_UNAVAILABLE', { detail: redactText(detailOf(cause)), facts, cause })
}

/** What the server says of a namespace that it does not have. */
export function isNoNamespace(error: unknown): boolean {
  return error instanceof NamespaceNotFoundError || (error as { code?: unknown } | undefined)?.code === notFound
}

/** What gRPC says of it, without what the SDK says around it. */
function detailOf(error: unknown): string {
  const cause = error instanceof ServiceError ? error.cause : error
  if (isGrpcServiceError(cause)) return cause.details
  return error instanceof Error ? error.message : String(error)
}

/** Whether TLS is spoken there: whoever does ends a plain connection without a word that gRPC could pass on. */
function wantsTls(address: string): Promise<boolean> {
  const { hostname, port } = new URL(`tcp://${address}`)
  return new Promise((resolve) => {
    // The certificate is of no interest, only that there is one.
    const socket = connectTls({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port),
      rejectUnauthorized: false,
      timeout: tlsTimeoutMs,
    })
    const end = (found: boolean) => {
      socket.destroy()
      resolve(found)
    }
    socket.once('secureConnect', () => end(true))
    socket.once('timeout', () => end(false))
    // A server that asks for our certificate has said that it speaks TLS as well.
    socket.once('error', ({ message }) => end(/alert|certificate required/i.test(message)))
  })
}
