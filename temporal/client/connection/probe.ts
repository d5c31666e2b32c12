import { type Facts, RelayerError } from '../../../domain/catalogue/errors.ts'
import type { TemporalAccess } from '../../../domain/temporal-access.ts'
import { Connection } from '@temporalio/client'
import { type TemporalClient, within } from './client.ts'
import { apiKeyExpiry, connectionOptions, readCredentials, type TemporalCredentials } from './credentials.ts'
import { detailOf, isNamespaceMissing, refusalCode } from './errors.ts'
import { checkHandshake } from './handshake.ts'
import { retries } from './retries.ts'

/** For each step, ms. */
const answerTimeoutMs = 5_000
/** No workflow has this id: a signal to it only shows whether writing is permitted. */
const noWorkflow = 'portage-permission-check'

export interface ProbeOptions {
  readonly stopping?: AbortSignal | undefined
  readonly timeoutMs?: number
  /** Workers and orders need it. */
  readonly writes?: boolean
}

/**
 * Checks server, credentials and namespace. Throws TEMPORAL_UNAVAILABLE, TEMPORAL_TLS, TEMPORAL_NO_TLS,
 * TEMPORAL_UNTRUSTED, TEMPORAL_CERTIFICATE_REFUSED, TEMPORAL_CREDENTIALS, TEMPORAL_API_KEY_REFUSED,
 * TEMPORAL_PERMISSION, TEMPORAL_NAMESPACE. All are retriable.
 */
export async function probeTemporal(
  target: TemporalAccess,
  { stopping, timeoutMs = answerTimeoutMs, writes = false }: ProbeOptions = {},
): Promise<void> {
  const { address, namespace } = target
  const facts = { address, namespace }
  const credentials = readCredentials(target)
  // gRPC alone would not report the reason.
  await checkHandshake(target, credentials, { stopping, timeoutMs, facts })
  const connection = Connection.lazy({ ...connectionOptions(target, credentials), connectTimeout: timeoutMs, interceptors: retries() })
  const { workflowService } = connection
  const ask = async (what: () => Promise<unknown>) => connection.withDeadline(Date.now() + timeoutMs, what)
  try {
    // Allowed for every accepted key.
    await ask(() => workflowService.getSystemInfo({})).catch(refuseKey(credentials, facts))
    await ask(() => workflowService.describeNamespace({ namespace }))
    if (writes) await ask(() => mayWrite(connection, namespace))
  } catch (error) {
    if (error instanceof RelayerError) throw error
    if (isNamespaceMissing(error)) throw new RelayerError('TEMPORAL_NAMESPACE', { facts, cause: error })
    throw await connectionError(target, credentials, error, facts)
  } finally {
    await connection.close().catch(() => {})
  }
}

/** Throws the server's error. */
async function mayWrite({ workflowService }: Connection, namespace: string): Promise<void> {
  await workflowService
    .signalWorkflowExecution({ namespace, workflowExecution: { workflowId: noWorkflow }, signalName: noWorkflow })
    .catch((error: unknown) => {
      if (!isNamespaceMissing(error)) throw error
    })
}

/** For `catch` after a call that needs no permission, so a refusal concerns the key. */
function refuseKey(credentials: TemporalCredentials, facts: Facts) {
  return (error: unknown): never => {
    if (!refusalCode(error) || credentials.apiKey === undefined) throw error
    throw keyRefused(credentials.apiKey, facts, error)
  }
}

export function keyRefused(apiKey: string, facts: Facts, cause: unknown): RelayerError {
  const expiry = apiKeyExpiry(apiKey)
  const detail = expiry !== undefined && expiry < Date.now() ? `it expired at ${new Date(expiry).toISOString()}` : undefined
  return new RelayerError('TEMPORAL_API_KEY_REFUSED', { ...(detail && { detail }), facts, cause })
}

export async function checkNamespace(client: TemporalClient, timeoutMs: number): Promise<void> {
  const { namespace } = client.options
  await within(client, timeoutMs, () => client.workflowService.describeNamespace({ namespace }))
}

/** As precise as a handshake can make it. */
export async function connectionError(
  target: TemporalAccess,
  credentials: TemporalCredentials,
  cause: unknown,
  facts: Facts = { address: target.address },
): Promise<RelayerError> {
  const code = refusalCode(cause)
  if (code === 'TEMPORAL_API_KEY_REFUSED' && credentials.apiKey !== undefined) return keyRefused(credentials.apiKey, facts, cause)
  const none = credentials.apiKey === undefined ? { detail: 'no API key was shown' } : {}
  if (code) return new RelayerError(code, { ...none, facts, cause })
  return checkHandshake(target, credentials, { timeoutMs: answerTimeoutMs, facts }).then(
    () => unavailable(cause, facts),
    (error: unknown) => (error instanceof RelayerError ? error : unavailable(error, facts)),
  )
}

function unavailable(cause: unknown, facts: Facts): RelayerError {
  return new RelayerError('TEMPORAL_UNAVAILABLE', { detail: detailOf(cause), facts, cause })
}
