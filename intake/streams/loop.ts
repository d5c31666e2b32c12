import { backoffMs } from '../../domain/backoff.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Logger } from '../../observability/logger.ts'
import { problemOf } from '../../observability/severity.ts'
import { pause } from '../../runtime/wait.ts'

/** `haltedMs`: pause after a contradiction, which only an operator can resolve. */
const afterFailure = { firstMs: 250, mostMs: 5_000, haltedMs: 60_000 } as const

type Subscribe = (listener: () => void) => () => unknown

/**
 * True: more work is due. False: the step worked. Undefined: the step had nothing to do, so an earlier failure stays.
 */
export type Step = () => Promise<boolean | undefined>

export interface Loop {
  readonly name: string
  readonly step: Step
  readonly wake?: Subscribe
  readonly everyMs: () => number
}

interface LoopOptions extends Loop {
  readonly stream: string
  readonly stopping: AbortSignal
  readonly logger: Pick<Logger, 'debug' | 'info' | 'warn'>
}

export async function runLoop({ name, stream, step, wake, everyMs, stopping, logger }: LoopOptions): Promise<void> {
  let failures = 0
  let trouble: string | undefined
  let woken = new AbortController()
  const wakeUp = () => woken.abort()
  const unsubscribe = wake?.(wakeUp)
  stopping.addEventListener('abort', wakeUp)
  while (!stopping.aborted) {
    woken = new AbortController()
    try {
      const isMore = await step()
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

export async function waitFor(wake: Subscribe, timeoutMs: number, stopping?: AbortSignal): Promise<void> {
  const woken = new AbortController()
  const unsubscribe = wake(() => woken.abort())
  await pause(timeoutMs, stopping ? AbortSignal.any([stopping, woken.signal]) : woken.signal)
  unsubscribe()
}
