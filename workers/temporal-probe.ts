import { connect as connectTcp } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Config } from '../config/schema.ts'
import type { Facts } from '../domain/errors.ts'
import { RelayerError } from '../domain/errors.ts'
import { redactText } from '../observability/redact.ts'
import { Connection, isGrpcServiceError, ServiceError } from '@temporalio/client'
import { NamespaceNotFoundError } from '@temporalio/common'

/** Longest wait for a connection, and for an answer, ms. */
const patientMs = 5_000
/** The same for the greeting of TLS, ms. */
const tlsTimeoutMs = 2_000
/** gRPC's code of an unknown namespace. */
const notFound = 5

export interface ProbeOptions {
  /** Ends it at once. */
  readonly stopping?: AbortSignal | undefined
  /** Longest wait for each of its three steps, ms. */
  readonly timeoutMs?: number
}

/**
 * Does a Temporal server answer at the address, and has it the namespace? Throws TEMPORAL_UNAVAILABLE, TEMPORAL_TLS (who answers wants TLS),
 * TEMPORAL_NAMESPACE, all of them retriable: a server may be on its way up, and its namespace be made after it.
 */
export async function probeTemporal({ address, namespace }: Config['temporal'], options: ProbeOptions = {}): Promise<void> {
  const { stopping, timeoutMs = patientMs } = options
  const facts = { address, namespace }
  try {
    // gRPC itself would try to the end of its time, and then not say what was wrong.
    await reach(address, timeoutMs, stopping)
  } catch (error) {
    throw new RelayerError('TEMPORAL_UNAVAILABLE', { detail: detailOf(error), facts, cause: error })
  }
  const connection = Connection.lazy({ address, connectTimeout: timeoutMs })
  try {
    await connection.ensureConnected()
    await connection.withDeadline(Date.now() + timeoutMs, () => connection.workflowService.describeNamespace({ namespace }))
  } catch (error) {
    if (isNoNamespace(error)) throw new RelayerError('TEMPORAL_NAMESPACE', { facts, cause: error })
    throw await whyAway(address, error, facts)
  } finally {
    await connection.close().catch(() => {})
  }
}

/** What a failed connection means: TEMPORAL_TLS if TLS is spoken at the address, else TEMPORAL_UNAVAILABLE. */
export async function whyAway(address: string, cause: unknown, facts: Facts = { address }): Promise<RelayerError> {
  if (await wantsTls(address)) return new RelayerError('TEMPORAL_TLS', { facts, cause })
  return new RelayerError('TEMPORAL_UNAVAILABLE', { detail: detailOf(cause), facts, cause })
}

/** What the server says of a namespace that it does not have. */
export function isNoNamespace(error: unknown): boolean {
  return error instanceof NamespaceNotFoundError || (error as { code?: unknown } | undefined)?.code === notFound
}

/** What gRPC says of it, without what the SDK says around it. */
function detailOf(error: unknown): string {
  const cause = error instanceof ServiceError ? error.cause : error
  return redactText(isGrpcServiceError(cause) ? cause.details : error instanceof Error ? error.message : String(error))
}

/** Whether anybody listens. Throws what the system says. */
function reach(address: string, timeoutMs: number, stopping?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp(placeOf(address))
    const end = (error?: Error) => {
      stopping?.removeEventListener('abort', stop)
      socket.destroy()
      if (error) reject(error)
      else resolve()
    }
    const stop = () => end(new Error('stopped'))
    stopping?.addEventListener('abort', stop)
    socket.setTimeout(timeoutMs, () => end(new Error(`nobody has answered within ${timeoutMs} ms`)))
    socket.once('connect', () => end())
    socket.once('error', end)
  })
}

/** Whether TLS is spoken there: whoever does ends a plain connection without a word that gRPC could pass on. */
function wantsTls(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    // The certificate is of no interest, only that there is one.
    const socket = connectTls({ ...placeOf(address), rejectUnauthorized: false, timeout: tlsTimeoutMs })
    const end = (found: boolean) => {
      socket.destroy()
      resolve(found)
    }
    socket.once('secureConnect', () => end(true))
    socket.once('timeout', () => end(false))
    // A server that asks for our certificate, or likes nothing that we offer, has said that it speaks TLS as well.
    socket.once('error', ({ message }) => end(/\balert\b/i.test(message)))
  })
}

function placeOf(address: string): { host: string; port: number } {
  const { hostname, port } = new URL(`tcp://${address}`)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) }
}
