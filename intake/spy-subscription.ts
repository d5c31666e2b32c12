import { backoffMs } from '../domain/backoff.ts'
import type { Logger } from '../observability/logger.ts'
import { openSpyStream, type SpyFilter, type SpyStream } from './spy-stream.ts'

export interface SpySubscriptionOptions {
  /** host:port of the guardian spy. */
  readonly address: string
  readonly filters: readonly SpyFilter[]
  /** First and longest wait before it is opened again, ms. */
  readonly retry: { readonly firstMs: number; readonly mostMs: number }
  readonly onOpen: () => void
  readonly onMessage: (vaa: Uint8Array) => void
  readonly logger: Logger
}

/** A subscription that is opened again whenever it ends. */
export function createSpySubscription({ address, filters, retry, onOpen, onMessage, logger }: SpySubscriptionOptions) {
  let stream: SpyStream | undefined
  let running = false
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
    if (paused) stream.pause()
  }

  function reconnect(reason: string): void {
    connected = false
    stream = undefined
    if (!running) return
    const most = backoffMs(failures++, retry.firstMs, retry.mostMs)
    const waitMs = Math.round(most / 2 + (Math.random() * most) / 2)
    problem = reason
    logger.warn('the connection to the guardian spy is lost', { code: 'SPY_UNAVAILABLE', address, reason, retryInMs: waitMs })
    timer = setTimeout(connect, waitMs)
  }

  return {
    start(): void {
      if (running) return
      running = true
      connect()
    },
    stop(): void {
      running = false
      clearTimeout(timer)
      stream?.close()
    },
    /** Stops or resumes reading, now and after the next opening. */
    pause(wanted: boolean): void {
      paused = wanted
      if (paused) stream?.pause()
      else stream?.resume()
    },
    get connected(): boolean {
      return connected
    },
    get paused(): boolean {
      return paused
    },
    /** Why it is not connected. */
    get problem(): string | undefined {
      return problem
    },
  }
}
