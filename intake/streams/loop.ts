import { problemOf } from '../../observability/severity.ts'
import { backoffMs } from '../../domain/backoff.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Logger } from '../../observability/logger.ts'
import { pause } from '../../runtime/wait.ts'

/** Waits after a failure, ms. After a contradiction, which halts the route, a person has to act first. */
const afterFailure = { firstMs: 250, mostMs: 5_000, haltedMs: 60_000 } as const

/** Returns the function that ends the subscription. */
type Subscribe = (listener: () => void) => () => unknown

/** True: there is more, and the next look is at once. Undefined: nothing was due, which does not show that an earlier failure is over. */
export type Look = () => Promise<boolean | undefined>

export interface Loop {
  /** For the log. */
  readonly name: string
  readonly look: Look
  /** Ends the pause before its time. */
  readonly wake?: Subscribe
  /** Longest pause between two looks, ms. */
  readonly everyMs: () => number
}

interface LoopOptions extends Loop {
  readonly stream: string
  readonly stopping: AbortSignal
  readonly logger: Pick<Logger, 'debug' | 'info' | 'warn'>
}

/** Looks again and again until it is stopped. What a look throws is logged once, and tried again. Never rejects. */
export async function runLoop({ name, stream, look, wake, everyMs, stopping, logger }: LoopOptions): Promise<void> {
  let failures = 0
  let trouble: string | undefined
  let woken = new AbortController()
  const wakeUp = () => woken.abort()
  const unsubscribe = wake?.(wakeUp)
  stopping.addEventListener('abort', wakeUp)
  while (!stopping.aborted) {
    // A wake during the look counts: the next look is at once.
    woken = new AbortController()
    try {
      const isMore = await look()
      if (trouble !== undefined && isMore !== undefined) {
        logger.info(`the ${name} of a stream works again`, { stream })
        trouble = undefined
      }
      failures = 0
      if (!isMore && !stopping.aborted) await pause(everyMs(), woken.signal)
    } catch (thrown) {
      if (stopping.aborted) break
      const { code, haltRoute } = toRelayerError(thrown)
      logger[code === trouble ? 'debug' : 'warn'](`the ${name} of a stream failed; trying again`, { stream, ...problemOf(thrown) })
      trouble = code
      failures += 1
      await pause(haltRoute ? afterFailure.haltedMs : backoffMs(failures - 1, afterFailure.firstMs, afterFailure.mostMs), stopping)
    }
  }
  unsubscribe?.()
  stopping.removeEventListener('abort', wakeUp)
}

/** Waits until it is woken or stopped, or so many ms. */
export async function waitFor(wake: Subscribe, timeoutMs: number, stopping?: AbortSignal): Promise<void> {
  const woken = new AbortController()
  const wakeUp = () => woken.abort()
  const unsubscribe = wake(wakeUp)
  stopping?.addEventListener('abort', wakeUp)
  if (!stopping?.aborted) await pause(timeoutMs, woken.signal)
  unsubscribe()
  stopping?.removeEventListener('abort', wakeUp)
}
