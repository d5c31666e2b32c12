import { backoffMs } from '../../domain/backoff.ts'
import { type ErrorCode, RelayerError } from '../../domain/catalogue/errors.ts'
import type { Logger } from '../../observability/logger.ts'

/** First and longest pause between two tries, ms. */
const firstMs = 250
const longestMs = 5_000
/** Pause after a server has refused us: it is not helped by many tries, and may lock us out for them. */
const refusedMs = 30_000
const refusals: ReadonlySet<ErrorCode> = new Set(['TEMPORAL_CERTIFICATE_REFUSED', 'TEMPORAL_API_KEY_REFUSED', 'TEMPORAL_PERMISSION'])
/** Between two log lines about the same error, ms. */
const logAgainMs = 5 * 60_000

/** The wait was stopped before the dependency was available. */
export class Stopped extends Error {}

export interface RetryOptions {
  readonly logger: Logger
  /** Ends the wait. */
  readonly stopping: AbortSignal
  /** Called after each try that failed. What it throws ends the wait. */
  readonly onWaiting?: ((dependency: string, error: RelayerError) => Promise<void>) | undefined
}

/**
 * Tries until `attempt` succeeds: the parts of a fleet start in any order. The first failure is logged, and the same code again every few minutes. Throws
 * Stopped, and every error that is not retriable.
 * @param dependency for people: `Temporal`
 */
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
    let timer: NodeJS.Timeout | undefined
    const pause = () => new Promise((resolve) => (timer = setTimeout(resolve, pauseMs)))
    await orStopped(stopping, pause).finally(() => clearTimeout(timer))
  }
}

function secondsSince(at: number): number {
  return Math.round((Date.now() - at) / 1_000)
}

/** The result of the work, or Stopped as soon as it is stopped; the work itself listens to the same signal. */
async function orStopped<Value>(stopping: AbortSignal, work: () => Promise<Value>): Promise<Value> {
  if (stopping.aborted) throw new Stopped()
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Stopped())
    stopping.addEventListener('abort', stop)
    void work()
      .then(resolve, reject)
      .finally(() => stopping.removeEventListener('abort', stop))
  })
}
