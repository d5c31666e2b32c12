import { randomBytes } from 'node:crypto'
import type { Client } from '@temporalio/client'
import { backoffMs, isTold } from '../domain/backoff.ts'
import { RelayerError } from '../domain/errors.ts'
import { viewStream } from '../domain/stream/reducer.ts'
import type { StreamAnswer, StreamConfig, StreamRequest, StreamResponse, StreamState, StreamView } from '../domain/stream/stream.ts'
import type { Logger } from '../observability/logger.ts'
import type { StreamInput } from '../temporal/contracts/stream.ts'
import { isGone, queryState, refusal, applyOnStream } from './stream-calls.ts'

export interface StreamClientOptions {
  readonly client: Client
  readonly config: StreamConfig
  readonly logger: Logger
  /** Asked whenever the stream is not there: what it begins with. Absent: `config` alone. */
  readonly begin?: () => Promise<StreamInput>
}

interface Asked {
  readonly requests: readonly StreamRequest[]
  readonly era: number
  resolve(told: StreamResponse | undefined): void
  reject(error: RelayerError): void
}

/** Longest wait between two tries to reach the stream, ms. */
const longestRetryMs = 5_000
/** Of one update, so that it stays far below the server's limits. */
const mostRequests = 64
const mostNumbers = 5_000

/**
 * One process's client of one stream. Whatever is told while an update is on its way goes together in the next one, so a process has at most one in
 * flight. What is told is told again, in the same words, until the stream has answered or the client is closed: closing, continuing as new, wiped,
 * out of reach are all the same. The stream comes into being with the first thing that is told.
 */
export class StreamClient {
  readonly #options: StreamClientOptions
  readonly #process = randomBytes(4).toString('hex')
  readonly #changes = new Set<() => void>()
  readonly #closing = new AbortController()
  #queue: Asked[] = []
  #count = 0
  #busy = false
  #era = 0
  #view: StreamView | undefined

  constructor(options: StreamClientOptions) {
    this.#options = options
  }

  /** The stream as it was last heard of. */
  get view(): StreamView | undefined {
    return this.#view
  }

  /** Grows when the stream goes back (a fork, Temporal restored or wiped): what was read before may speak of what is gone. */
  get era(): number {
    return this.#era
  }

  /**
   * Answers in the order of the requests. Undefined: the stream went back since `era`, and nothing was told; read again.
   * Throws STREAM_UNREACHABLE only after `close`, INTERNAL if the stream finds the requests malformed.
   * @param era of the moment that the reading began
   */
  apply(requests: readonly StreamRequest[], era = this.#era): Promise<StreamResponse | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#closing.signal.aborted) return reject(this.#unreachable())
      this.#queue.push({ requests, era, resolve, reject })
      if (this.#busy) return
      this.#busy = true
      // What is told in the same turn of the event loop goes along.
      setImmediate(() => void this.#run())
    })
  }

  /** The whole state, for what the view does not tell; undefined: there is no stream yet. Throws STREAM_UNREACHABLE, TEMPORAL_UNAVAILABLE. */
  async state(): Promise<StreamState | undefined> {
    const state = await queryState(this.#options.client, this.#options.config.stream)
    if (state) this.#see(viewStream(state))
    else if (this.#view) this.#lose()
    return state
  }

  /** Resolves when the stream is not as it was last heard of, when the client is closed, or after so many ms. */
  changed(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.#changes.delete(done)
        resolve()
      }
      const timer = setTimeout(done, timeoutMs)
      this.#changes.add(done)
      if (this.#closing.signal.aborted) done()
    })
  }

  /** What was not answered fails with STREAM_UNREACHABLE; it is found again from the chains. */
  close(): void {
    this.#closing.abort()
    for (const { reject } of this.#queue.splice(0)) reject(this.#unreachable())
    for (const done of this.#changes) done()
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0 && !this.#closing.signal.aborted) {
      const sent = this.#next()
      if (sent.length === 0) continue
      try {
        const response = await this.#told(sent.flatMap(({ requests }) => requests))
        this.#hear(response)
        let at = 0
        for (const { requests, resolve } of sent) {
          resolve({ answers: response.answers.slice(at, (at += requests.length)), view: response.view })
        }
      } catch (error) {
        for (const { reject } of sent) reject(error instanceof RelayerError ? error : this.#unreachable(error))
      }
    }
    this.#busy = false
  }

  /** As many of the queue as fit into an update; those from before the stream went back are dropped. */
  #next(): Asked[] {
    const taken: Asked[] = []
    let [requests, numbers] = [0, 0]
    for (let asked = this.#queue[0]; asked; asked = this.#queue[0]) {
      requests += asked.requests.length
      numbers += asked.requests.reduce((sum, one) => sum + ('numbers' in one ? one.numbers.length : 0), 0)
      if (taken.length > 0 && (requests > mostRequests || numbers > mostNumbers)) break
      this.#queue.shift()
      if (asked.era === this.#era) taken.push(asked)
      else asked.resolve(undefined)
    }
    return taken
  }

  #hear({ answers, view }: StreamResponse): void {
    if (answers.some(({ kind }: StreamAnswer) => kind === 'forked')) this.#era += 1
    this.#see(view)
  }

  #see(view: StreamView): void {
    const before = this.#view
    const isBack = before?.nextHeight !== undefined && (view.nextHeight === undefined || view.nextHeight < before.nextHeight)
    if (isBack) this.#era += 1
    this.#view = view
    // Two who wait and ask would else wake each other without end.
    if (JSON.stringify(view) !== JSON.stringify(before)) for (const done of this.#changes) done()
  }

  /** Temporal was wiped: whatever is told next brings the stream into being again. */
  #lose(): void {
    this.#view = undefined
    this.#era += 1
  }

  /** The same update id at every try: within a run the server itself answers a repeated one only once. */
  async #told(requests: readonly StreamRequest[]): Promise<StreamResponse> {
    const { client, config, logger } = this.#options
    const updateId = `${this.#process}-${++this.#count}`
    let input: StreamInput | undefined
    for (let tries = 0; !this.#closing.signal.aborted; tries++) {
      try {
        return await this.#orClosed(applyOnStream(client, config.stream, { requests }, { updateId, ...(input && { input }) }))
      } catch (error) {
        if (this.#closing.signal.aborted) break
        if (isGone(error) && !input) {
          input = await this.#begin(tries)
          if (input) continue
        } else {
          input = undefined
          this.#consider(error, tries)
        }
        const wait = backoffMs(tries, 50, longestRetryMs)
        await this.#orClosed(new Promise((resolve) => setTimeout(resolve, wait))).catch(() => {})
        logger.debug('telling the stream again', { stream: config.stream, tries })
      }
    }
    throw this.#unreachable()
  }

  /** Undefined: it cannot be said now. */
  async #begin(tries: number): Promise<StreamInput | undefined> {
    const { config, begin = () => Promise.resolve({ config }) } = this.#options
    try {
      return await this.#orClosed(begin())
    } catch (error) {
      this.#wail(error, tries)
      return undefined
    }
  }

  /** Throws INTERNAL for what is not heard differently another time. */
  #consider(error: unknown, tries: number): void {
    const { malformed, full } = refusal(error)
    const facts = { stream: this.#options.config.stream }
    if (malformed !== undefined) throw new RelayerError('INTERNAL', { detail: `the stream refuses a request: ${malformed}`, facts })
    if (!full) this.#wail(error, tries)
  }

  #wail(error: unknown, tries: number): void {
    const { config, logger } = this.#options
    const reason = error instanceof Error ? error.message : String(error)
    logger[isTold(tries) ? 'warn' : 'debug']('the stream did not answer; telling it again', { stream: config.stream, tries, reason })
  }

  /** Rejects when the client is closed: an update may hang for as long as no worker serves its queue. */
  #orClosed<T>(work: Promise<T>): Promise<T> {
    const { signal } = this.#closing
    return new Promise((resolve, reject) => {
      const leave = () => reject(this.#unreachable())
      if (signal.aborted) leave()
      signal.addEventListener('abort', leave)
      void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
    })
  }

  #unreachable(cause?: unknown): RelayerError {
    const facts = { stream: this.#options.config.stream }
    return new RelayerError('STREAM_UNREACHABLE', { detail: 'this process is stopping', facts, cause })
  }
}
