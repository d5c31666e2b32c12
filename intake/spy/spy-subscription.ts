import type { Logger } from '../../observability/logger.ts'
import { type Retry, retryWaitMs } from '../submit/submissions.ts'
import { openSpyStream, type SpyFilter, type SpyStream } from './spy-stream.ts'

export interface SpySubscriptionOptions {
  readonly address: string
  readonly filters: readonly SpyFilter[]
  /** First and longest wait before it is opened again. */
  readonly retry: Retry
  readonly onOpen: () => void
  readonly onLost: () => void
  readonly onMessage: (vaa: Uint8Array) => void
  readonly logger: Logger
}

/** Opens a subscription again whenever it ends. */
export function createSpySubscription({ address, filters, retry, onOpen, onLost, onMessage, logger }: SpySubscriptionOptions) {
  let stream: SpyStream | undefined
  let stopped = false
  let connected = false
  let paused = false
  let failures = 0
  let timer: NodeJS.Timeout | undefined
  let problem: string | undefined

  function connect(): void {
    stream = openSpyStream(address, filters, {
      onOpen() {
        connected = true
        problem = undefined
        onOpen()
        logger.info('listening to the guardian spy', { address, filters: filters.length })
      },
      onMessage(vaa) {
        failures = 0
        onMessage(vaa)
      },
      onEnd: reconnect,
    })
    stream.pause(paused)
  }

  function reconnect(reason: string): void {
    if (connected) onLost()
    connected = false
    stream = undefined
    if (stopped) return
    const waitMs = retryWaitMs(failures++, retry)
    problem = reason
    logger.warn('the connection to the guardian spy is lost', { code: 'SPY_UNAVAILABLE', address, reason, retryInMs: waitMs })
    timer = setTimeout(connect, waitMs)
  }

  return {
    start: connect,
    stop(): void {
      stopped = true
      clearTimeout(timer)
      stream?.close()
    },
    /** Stops or resumes reading, also after a reconnect. */
    pause(wanted: boolean): void {
      paused = wanted
      stream?.pause(wanted)
    },
    /** `problem`: the reason why it is not connected. */
    get state() {
      return { connected, paused, problem }
    },
  }
}
