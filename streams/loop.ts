import { backoffMs } from '../domain/backoff.ts'
import { toRelayerError } from '../domain/errors.ts'
import type { Logger } from '../observability/logger.ts'

/** Waits after what failed, ms. After a contradiction, for which the route is halted, a person comes first. */
const failed = { firstMs: 250, mostMs: 5_000, mismatchMs: 60_000 } as const

/** What a look is doing when its loops are to end may take so long, ms: a read of a node, an answer of a server. */
const graceMs = 5_000

export interface LoopOptions {
  /** For the log: `scan`. */
  readonly name: string
  readonly stream: string
  /** One look; true: the next at once. Undefined: nothing was due, which does not show that what failed works again. */
  readonly look: () => Promise<boolean | undefined>
  /** Wakes the loop before its time. Returns the function that ends that. */
  readonly wake?: (listener: () => void) => () => void
  /** Longest pause between two looks, ms. */
  readonly everyMs: () => number
  readonly stopping: AbortSignal
  readonly logger: Logger
}

/** Looks again and again until it is stopped; what a look throws is told once, and tried again. Never rejects. */
export async function runLoop({ name, stream, look, wake, everyMs, stopping, logger }: LoopOptions): Promise<void> {
  let failures = 0
  let trouble: string | undefined
  // What wakes it while it looks counts: the next look is at once.
  let isWoken = false
  let wakeUp = () => {}
  const end = wake?.(() => {
    isWoken = true
    wakeUp()
  })
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer)
        stopping.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      stopping.addEventListener('abort', done)
      if (failures === 0) wakeUp = done
      if (stopping.aborted) done()
    })
  while (!stopping.aborted) {
    isWoken = false
    try {
      const isMore = await look()
      if (trouble !== undefined && isMore !== undefined) {
        logger.info(`the ${name} of a stream works again`, { stream })
        trouble = undefined
      }
      failures = 0
      if (!isMore && !isWoken) await pause(everyMs())
    } catch (thrown) {
      if (stopping.aborted) break
      const { code, message, haltRoute } = toRelayerError(thrown)
      logger[code === trouble ? 'debug' : 'warn'](`the ${name} of a stream failed; trying again`, { stream, error: message })
      trouble = code
      failures += 1
      await pause(haltRoute ? failed.mismatchMs : backoffMs(failures - 1, failed.firstMs, failed.mostMs))
    }
  }
  end?.()
}

/** Resolves when all of these have ended after they were stopped; those that hang in a read are left to it. */
export async function loopsEnded(loops: readonly Promise<void>[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  await Promise.race([Promise.all(loops), new Promise((resolve) => (timer = setTimeout(resolve, graceMs)))])
  clearTimeout(timer)
}
