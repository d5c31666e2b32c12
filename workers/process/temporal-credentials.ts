import { problemOf } from '../../observability/severity.ts'
import { isDeepStrictEqual } from 'node:util'
import type { NativeConnection, Worker } from '@temporalio/worker'
import type { TemporalAccess } from '../../domain/temporal-access.ts'
import type { Logger } from '../../observability/logger.ts'
import { apiKeyExpiry, readCredentials, type TemporalCredentials } from '../../temporal/client/connection/credentials.ts'
import { type Service, startPolling } from '../../runtime/wait.ts'
import type { Temporal } from './temporal.ts'

const pollEveryMs = 5_000
/** Time for which calls on a replaced connection may continue, ms. Longer than a long poll. */
const oldConnectionMs = 120_000
const soonMs = 3 * 24 * 3_600_000

interface CredentialsWatch {
  readonly target: TemporalAccess
  readonly temporal: Temporal
  readonly workers: readonly Worker[]
  readonly logger: Logger
}

export function watchCredentials({ target, temporal, workers, logger }: CredentialsWatch): Service {
  const { tls, apiKey } = target
  const files = [tls?.ca, tls?.certificate, tls?.key, apiKey].flatMap((source) => (source?.file === undefined ? [] : [source.file]))
  warnBeforeKeyEnds(temporal.credentials, apiKey?.file !== undefined, logger)
  if (files.length === 0) return { stop: () => Promise.resolve() }
  const old = new Set<NativeConnection>()
  let logged: string | undefined
  const check = async () => {
    try {
      const now = readCredentials(target)
      if (!isDeepStrictEqual(now, temporal.credentials)) await use(now)
      logged = undefined
    } catch (error) {
      const problem = problemOf(error)
      if (logged !== problem.reason) logger.warn('new credentials for Temporal cannot be used; keeping the previous ones', problem)
      logged = problem.reason
    }
  }
  const use = async (now: TemporalCredentials) => {
    const before = await temporal.use(now)
    if (before) {
      for (const worker of workers) worker.connection = temporal.connection
      closeLater(before)
    }
    logger.info(before ? 'the credentials of Temporal were read again' : 'the API key of Temporal was read again')
    warnBeforeKeyEnds(now, apiKey?.file !== undefined, logger)
  }
  const closeLater = (connection: NativeConnection) => {
    old.add(connection)
    setTimeout(() => void close(connection), oldConnectionMs).unref()
  }
  const close = async (connection: NativeConnection) => {
    if (old.delete(connection)) await connection.close().catch(() => {})
  }
  const polling = startPolling(check, { everyMs: pollEveryMs })
  return {
    async stop() {
      await polling.stop()
      for (const connection of old) await close(connection)
    },
  }
}

function warnBeforeKeyEnds({ apiKey }: TemporalCredentials, rereads: boolean, logger: Logger): void {
  const ends = apiKey === undefined ? undefined : apiKeyExpiry(apiKey)
  if (ends === undefined || ends - Date.now() > soonMs) return
  const remedy = rereads
    ? 'Write a new key to its file: Portage reads the file again.'
    : 'Name its file in temporal.apiKeyFile to replace the key without a restart.'
  logger.warn('the API key of Temporal expires soon', { code: 'API_KEY_ENDS', at: new Date(ends).toISOString(), remedy })
}
