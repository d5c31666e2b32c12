import { problemOf } from '../../observability/severity.ts'
import { isDeepStrictEqual } from 'node:util'
import type { NativeConnection, Worker } from '@temporalio/worker'
import type { TemporalAccess } from '../../domain/temporal-access.ts'
import type { Logger } from '../../observability/logger.ts'
import { apiKeyExpiry, readCredentials, type TemporalCredentials } from '../../temporal/client/connection/credentials.ts'
import type { Service } from '../roles/context.ts'
import type { Temporal } from './temporal.ts'

/** Between two looks at the files, ms. */
const lookEveryMs = 5_000
/** Calls that began on a connection that was replaced have so long to end, ms: longer than a long poll. */
const oldConnectionMs = 120_000
/** An API key that ends so soon is said, ms. */
const soonMs = 3 * 24 * 3_600_000

export interface CredentialsWatch {
  readonly target: TemporalAccess
  readonly temporal: Temporal
  /** All Workers of the process: each holds the connection that it was made with. */
  readonly workers: readonly Worker[]
  readonly logger: Logger
  readonly everyMs?: number
}

/**
 * Reads the files with the certificate, key, CA and API key again and goes on with what they hold now: without this a process would stop working when
 * what it read at its start has expired. What cannot be used (a certificate that was written, and its key not yet) is logged once and looked at again.
 */
export function watchCredentials({ target, temporal, workers, logger, everyMs = lookEveryMs }: CredentialsWatch): Service {
  const { tls, apiKey } = target
  const files = [tls?.ca, tls?.certificate, tls?.key, apiKey].flatMap((source) => (source?.file === undefined ? [] : [source.file]))
  sayWhenKeyEnds(temporal.credentials, apiKey?.file !== undefined, logger)
  if (files.length === 0) return { stop: () => Promise.resolve() }
  const old = new Set<NativeConnection>()
  let said: string | undefined
  let looking = Promise.resolve()
  const look = async () => {
    try {
      const now = readCredentials(target)
      if (!isDeepStrictEqual(now, temporal.credentials)) await use(now)
      said = undefined
    } catch (error) {
      const problem = problemOf(error)
      if (said !== problem.reason) logger.warn('new credentials for Temporal cannot be used; going on with those before', problem)
      said = problem.reason
    }
  }
  const use = async (now: TemporalCredentials) => {
    if (isDeepStrictEqual(now.tls, temporal.credentials.tls) && now.apiKey !== undefined) {
      await temporal.replaceApiKey({ ...now, apiKey: now.apiKey })
      logger.info('the API key of Temporal was read again')
    } else {
      const before = await temporal.replace(now)
      for (const worker of workers) worker.connection = temporal.connection
      closeLater(before)
      logger.info('the credentials of Temporal were read again')
    }
    sayWhenKeyEnds(now, apiKey?.file !== undefined, logger)
  }
  const closeLater = (connection: NativeConnection) => {
    old.add(connection)
    setTimeout(() => void close(connection), oldConnectionMs).unref()
  }
  const close = async (connection: NativeConnection) => {
    if (old.delete(connection)) await connection.close().catch(() => {})
  }
  const timer = setInterval(() => void (looking = looking.then(look)), everyMs).unref()
  return {
    async stop() {
      clearInterval(timer)
      await looking
      for (const connection of old) await close(connection)
    },
  }
}

function sayWhenKeyEnds({ apiKey }: TemporalCredentials, rereads: boolean, logger: Logger): void {
  const ends = apiKey === undefined ? undefined : apiKeyExpiry(apiKey)
  if (ends === undefined || ends - Date.now() > soonMs) return
  const remedy = rereads
    ? 'Put a new one into its file: it is read again.'
    : 'Name it by temporal.apiKeyFile to replace it without a restart.'
  logger.warn('the API key of Temporal ends soon', { code: 'API_KEY_ENDS', at: new Date(ends).toISOString(), remedy })
}
