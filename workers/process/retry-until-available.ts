import { backoffMs } from '../../domain/backoff.ts'
import { type ErrorCode, RelayerError } from '../../domain/catalogue/errors.ts'
import type { Logger } from '../../observability/logger.ts'
import { Wait } from '../../runtime/wait.ts'

const firstMs = 250
const longestMs = 5_000
/** Pause after a refusal, ms. Many tries do not help and may lock the client out. */
const refusedMs = 30_000
const refusals: ReadonlySet<ErrorCode> = new Set(['TEMPORAL_CERTIFICATE_REFUSED', 'TEMPORAL_API_KEY_REFUSED', 'TEMPORAL_PERMISSION'])
const logAgainMs = 5 * 60_000

export class Stopped extends Error {}

export interface RetryOptions {
  readonly logger: Logger
  readonly stopping: AbortSignal
  readonly onWaiting?: ((dependency: string, error: RelayerError) => Promise<void>) | undefined
}

/** Tries until `attempt` succeeds: parts of a fleet start in any sequence. Throws Stopped, and permanent errors. */
export async function retryUntilAvailable<Value>(
  dependency: string,
  attempt: () => Promise<Value>,
  { logger, stopping, onWaiting }: RetryOptions,
): Promise<Value> {
  const since = Date.now()
  let logged: { code: string; at: number } | undefined
  for (let tries = 0; ; tries++) {
    let refused = false
    try {
      const value = await orStopped(stopping, attempt)
      if (logged) logger.info(`${dependency} is there; going on`, { waitedSeconds: secondsSince(since) })
      return value
    } catch (error) {
      if (!(error instanceof RelayerError) || !error.retriable || error.code === 'INTERNAL') throw error
      const { code, message: reason } = error
      refused = refusals.has(code)
      if (logged?.code !== code || Date.now() - logged.at >= logAgainMs) {
        logger.warn(`waiting for ${dependency}; trying until it is there`, { code, reason, waitedSeconds: secondsSince(since) })
        logged = { code, at: Date.now() }
      } else logger.debug(`still waiting for ${dependency}`, { code, reason, tries })
      await onWaiting?.(dependency, error)
    }
    const pauseMs = refused ? refusedMs : backoffMs(tries, firstMs, longestMs)
    const pause = new Wait<void>({ timeoutMs: pauseMs, signal: stopping }, () => pause.resolve())
    await pause.promise
  }
}

function secondsSince(at: number): number {
  return Math.round((Date.now() - at) / 1_000)
}

async function orStopped<Value>(stopping: AbortSignal, work: () => Promise<Value>): Promise<Value> {
  if (stopping.aborted) throw new Stopped()
  const wait = new Wait<Value>({ signal: stopping }, () => wait.reject(new Stopped()))
  work().then(wait.resolve, wait.reject)
  return wait.promise
}
