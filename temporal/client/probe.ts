import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { type Facts, RelayerError } from '../../domain/errors.ts'
import { Connection } from '@temporalio/client'
import { type TemporalClient, within } from './client.ts'
import { detailOf, isNamespaceMissing } from './errors.ts'

/** Longest wait for each of the three steps of a probe, ms. */
const answerTimeoutMs = 5_000
/** Longest wait for a TLS handshake, ms. */
const tlsTimeoutMs = 2_000

/** Where a Temporal server listens, `host:port`, and the namespace that is used there. */
export interface TemporalAddress {
  readonly address: string
  readonly namespace: string
}

/**
 * Checks that a Temporal server answers at the address and has the namespace. Throws TEMPORAL_UNAVAILABLE, TEMPORAL_TLS (the server wants TLS),
 * TEMPORAL_NAMESPACE. All of them are retriable: a server may still be starting, and its namespace may be created after it.
 */
export async function probeTemporal(
  { address, namespace }: TemporalAddress,
  { stopping, timeoutMs = answerTimeoutMs }: { readonly stopping?: AbortSignal | undefined; readonly timeoutMs?: number } = {},
): Promise<void> {
  const facts = { address, namespace }
  try {
    // gRPC alone would try until its deadline, and then not say what was wrong.
    await connectOverTcp(address, timeoutMs, stopping)
  } catch (error) {
    throw new RelayerError('TEMPORAL_UNAVAILABLE', { detail: detailOf(error), facts, cause: error })
  }
  const connection = Connection.lazy({ address, connectTimeout: timeoutMs })
  try {
    await connection.ensureConnected()
    await connection.withDeadline(Date.now() + timeoutMs, () => connection.workflowService.describeNamespace({ namespace }))
  } catch (error) {
    if (isNamespaceMissing(error)) throw new RelayerError('TEMPORAL_NAMESPACE', { facts, cause: error })
    throw await connectionError(address, error, facts)
  } finally {
    await connection.close().catch(() => {})
  }
}

/** Checks that the server answers for the namespace of the client. Throws what the Temporal client throws. */
export async function checkNamespace(client: TemporalClient, timeoutMs: number): Promise<void> {
  const { namespace } = client.options
  await within(client, timeoutMs, () => client.workflowService.describeNamespace({ namespace }))
}

/** The error of a failed connection: TEMPORAL_TLS if the server speaks TLS, else TEMPORAL_UNAVAILABLE. */
export async function connectionError(address: string, cause: unknown, facts: Facts = { address }): Promise<RelayerError> {
  if (await speaksTls(address)) return new RelayerError('TEMPORAL_TLS', { facts, cause })
  return new RelayerError('TEMPORAL_UNAVAILABLE', { detail: detailOf(cause), facts, cause })
}

/** Opens a TCP connection and closes it. Throws the system's error. */
async function connectOverTcp(address: string, timeoutMs: number, stopping?: AbortSignal): Promise<void> {
  const socket = connectTcp(hostAndPort(address))
  socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`no answer within ${timeoutMs} ms`)))
  await once(socket, 'connect', { signal: stopping }).finally(() => socket.destroy())
}

/** A server that speaks TLS ends a plain connection without an error that gRPC could pass on. */
async function speaksTls(address: string): Promise<boolean> {
  // The certificate itself is not checked, only that the server offers one.
  const socket = connectTls({ ...hostAndPort(address), rejectUnauthorized: false, timeout: tlsTimeoutMs })
  socket.once('timeout', () => socket.destroy(new Error('no handshake')))
  try {
    await once(socket, 'secureConnect')
    return true
  } catch (error) {
    // A server that asks for our certificate, or accepts none of our ciphers, sends a TLS alert.
    return error instanceof Error && /\balert\b/i.test(error.message)
  } finally {
    socket.destroy()
  }
}

function hostAndPort(address: string): { host: string; port: number } {
  const { hostname, port } = new URL(`tcp://${address}`)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) }
}
