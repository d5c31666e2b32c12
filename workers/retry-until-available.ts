import { backoffMs } from '../domain/backoff.ts'
import { RelayerError } from '../domain/errors.ts'
import type { Logger } from '../observability/logger.ts'

/** Waits between two tries, ms, and how often people are told of the same again. */
const defaults = { firstMs: 250, mostMs: 5_000, tellMs: 5 * 60_000 } as const

/** Whoever started this has asked it to stop before what it waits for was there. */
export class Stopped extends Error {}

export interface PatienceOptions {
  readonly logger: Logger
  /** Ends every wait. */
  readonly stopping: AbortSignal
  /** Told of each try that failed, before the next. What it throws ends the wait. */
  readonly onWaiting?: ((what: string, error: RelayerError) => Promise<void>) | undefined
  readonly firstMs?: number
  readonly mostMs?: number
  readonly tellMs?: number
}

/** A start that outlasts what is not there yet: the parts of a fleet come up in any order. */
export interface Patience {
  /**
   * What `attempt` gives, however often it has to be made. The first failure is a line of the log; the same code again is told every few minutes.
   * Throws Stopped, and what waiting does not mend: everything but retriable errors.
   * @param what for people: `Temporal`
   */
  until<Value>(what: string, attempt: () => Promise<Value>): Promise<Value>
}

export function createPatience(options: PatienceOptions): Patience {
  const { logger, stopping, onWaiting, firstMs, mostMs, tellMs } = { ...defaults, ...options }

  return {
    async until(what, attempt) {
      const since = Date.now()
      let told: { code: string; at: number } | undefined
      for (let tries = 0; ; tries++) {
        if (stopping.aborted) throw new Stopped()
        try {
          const value = await orStopped(attempt(), stopping)
          if (told) logger.info(`${what} is there; going on`, { waitedSeconds: seconds(since) })
          return value
        } catch (error) {
          if (!(error instanceof RelayerError) || !error.retriable || error.code === 'INTERNAL') throw error
          const { code, message: reason } = error
          if (told?.code !== code || Date.now() - told.at >= tellMs) {
            logger.warn(`waiting for ${what}; trying until it is there`, { code, reason, waitedSeconds: seconds(since) })
            told = { code, at: Date.now() }
          } else logger.debug(`still waiting for ${what}`, { code, reason, tries })
          await onWaiting?.(what, error)
        }
        await pause(backoffMs(tries, firstMs, mostMs), stopping)
      }
    },
  }
}

const seconds = (since: number): number => Math.round((Date.now() - since) / 1_000)

/** The work goes on by itself if it is not waited for any more: who does it listens to the same signal. */
function orStopped<Value>(work: Promise<Value>, stopping: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(new Stopped())
    stopping.addEventListener('abort', leave)
    void work.then(resolve, reject).finally(() => stopping.removeEventListener('abort', leave))
  })
}

/** Resolves after so many ms, or at once when it is stopped. */
function pause(ms: number, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      stopping.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    stopping.addEventListener('abort', done)
    if (stopping.aborted) done()
  })
}
