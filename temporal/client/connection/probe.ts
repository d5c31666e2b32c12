import { Connection, type ConnectionOptions, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client'
import { type Facts, RelayerError } from '../../../domain/catalogue/errors.ts'
import type { TemporalAccess } from '../../../domain/temporal-access.ts'
import { type TemporalClient, within } from './client.ts'
import { apiKeyExpiry, connectionOptions, readCredentials, type TemporalCredentials } from './credentials.ts'
import { detailOf, ifNamespaceMissing, isNamespaceMissing, isStatusTooLarge, refusalCode } from './errors.ts'
import { checkHandshake } from './handshake.ts'

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number]
type Call = ReturnType<Interceptor>
type Status = Parameters<NonNullable<NonNullable<Parameters<Call['start']>[1]>['onReceiveStatus']>>[0]

const answerTimeoutMs = 5_000
/** A signal to this id shows whether the server permits writing. No workflow has this id. */
const noWorkflow = 'portage-permission-check'
/** gRPC's CANCELLED. The SDK does not retry a call that ends with this code. */
const cancelled = 1

interface ConnectOptions {
  readonly stopping?: AbortSignal | undefined
  readonly timeoutMs?: number
}

/**
 * Throws TEMPORAL_CREDENTIALS, TEMPORAL_API_KEY_REFUSED, TEMPORAL_PERMISSION and the errors of `checkHandshake`, all of
 * them retriable.
 */
export async function openConnection(
  target: TemporalAccess,
  { stopping, timeoutMs = answerTimeoutMs }: ConnectOptions = {},
  credentials = readCredentials(target),
): Promise<Connection> {
  const facts = { address: target.address, namespace: target.namespace }
  await checkHandshake(target, credentials, { stopping, timeoutMs, facts })
  let connection: Connection | undefined
  try {
    connection = Connection.lazy({
      ...connectionOptions(target, credentials),
      connectTimeout: timeoutMs,
      interceptors: retries(),
      // By default, grpc-js accepts 4 MiB, which a page of a list with a few large memos exceeds. A process reads
      // several lists at once, so much larger pages could fill its memory.
      channelArgs: { 'grpc.max_receive_message_length': 16 * 1024 * 1024 },
    })
    await connection.ensureConnected()
    return connection
  } catch (cause) {
    // The SDK leaves a failed connection open.
    await connection?.close()
    // Every accepted key may read the server's capabilities, so this key was not accepted.
    if (refusalCode(cause) && credentials.apiKey !== undefined) throw keyRefused(credentials.apiKey, facts, cause)
    throw await connectionError(target, credentials, cause, facts)
  }
}

/** Throws TEMPORAL_NAMESPACE and the errors of `openConnection`. */
export async function probeTemporal(
  target: TemporalAccess,
  options: ConnectOptions & { /** Also checks the permission to write. */ readonly writes?: boolean } = {},
): Promise<void> {
  const { timeoutMs = answerTimeoutMs, writes } = options
  const { address, namespace } = target
  // Files that change between two reads would hide the real error.
  const credentials = readCredentials(target)
  const connection = await openConnection(target, options, credentials)
  const ask = async (what: () => Promise<unknown>) => connection.withDeadline(Date.now() + timeoutMs, what)
  try {
    await ask(() => connection.workflowService.describeNamespace({ namespace }))
    const signal = { namespace, workflowExecution: { workflowId: noWorkflow }, signalName: noWorkflow }
    if (writes) await ask(() => connection.workflowService.signalWorkflowExecution(signal)).catch(ifNamespaceMissing(undefined))
  } catch (error) {
    const facts = { address, namespace }
    if (isNamespaceMissing(error)) throw new RelayerError('TEMPORAL_NAMESPACE', { facts, cause: error })
    throw await connectionError(target, credentials, error, facts)
  } finally {
    await connection.close().catch(() => {})
  }
}

export async function checkNamespace(client: TemporalClient, timeoutMs: number): Promise<void> {
  const { namespace } = client.options
  await within(client, timeoutMs, () => client.workflowService.describeNamespace({ namespace }))
}

function keyRefused(apiKey: string, facts: Facts, cause: unknown): RelayerError {
  const expiry = apiKeyExpiry(apiKey)
  const detail = expiry !== undefined && expiry < Date.now() ? `it expired at ${new Date(expiry).toISOString()}` : undefined
  return new RelayerError('TEMPORAL_API_KEY_REFUSED', { ...(detail && { detail }), facts, cause })
}

async function connectionError(
  target: TemporalAccess,
  credentials: TemporalCredentials,
  cause: unknown,
  facts: Facts,
): Promise<RelayerError> {
  const code = refusalCode(cause)
  if (code === 'TEMPORAL_API_KEY_REFUSED' && credentials.apiKey !== undefined) return keyRefused(credentials.apiKey, facts, cause)
  const none = credentials.apiKey === undefined ? { detail: 'no API key was sent' } : {}
  if (code) return new RelayerError(code, { ...none, facts, cause })
  return checkHandshake(target, credentials, { timeoutMs: answerTimeoutMs, facts }).then(
    () => unavailable(cause, facts),
    (error: unknown) => (error instanceof RelayerError ? error : unavailable(error, facts)),
  )
}

function unavailable(cause: unknown, facts: Facts): RelayerError {
  return new RelayerError('TEMPORAL_UNAVAILABLE', { detail: detailOf(cause), facts, cause })
}

/**
 * The SDK's retries, but not of messages that are too large. They end quietly on a closed connection: they run in a
 * timer, where an error would end the process.
 */
export function retries(): Interceptor[] {
  const tried = new WeakSet<object>()
  const guard: Interceptor = (options, nextCall) => {
    if (!tried.has(options)) {
      tried.add(options)
      return nextCall(options) as Call
    }
    try {
      return nextCall(options) as Call
    } catch {
      return endedCall()
    }
  }
  const usual = defaultGrpcRetryOptions()
  const isRetried: typeof usual.retryableDecider = (attempt, status) => !isStatusTooLarge(status) && usual.retryableDecider(attempt, status)
  return [makeGrpcRetryInterceptor({ ...usual, retryableDecider: isRetried }), guard]
}

function endedCall(): Call {
  const call: Pick<Call, 'start' | 'sendMessage' | 'halfClose'> = {
    start(metadata, listener) {
      const status: unknown = { code: cancelled, details: 'the connection is closed', metadata }
      queueMicrotask(() => listener?.onReceiveStatus?.(status as Status))
    },
    sendMessage() {},
    halfClose() {},
  }
  // The SDK's retry calls only these three methods.
  return call as Call
}
