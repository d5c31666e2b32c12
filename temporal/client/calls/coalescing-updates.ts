import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { backoffMs, isTold } from '../../../domain/backoff.ts'
import { type ErrorCode, type Facts, RelayerError } from '../../../domain/catalogue/errors.ts'
import type { Logger } from '../../../observability/logger.ts'
import { updateRefusal } from '../connection/errors.ts'

export interface CoalescingOptions<Request, Update, Response> {
  /** Whether so many requests fit into one update. A request that fits into none goes alone. */
  fits(requests: readonly Request[]): boolean
  /** The update that carries these requests. Built once, however often it is sent. */
  build(requests: readonly Request[]): Update
  /** Sends an update. A throw means that it is sent again, with the same id, unless the workflow has refused it as malformed. */
  send(update: Update, updateId: string): Promise<Response>
  /** Called with every response, before the callers of `ask` have it. */
  onResponse(response: Response): void
  /** The error code of a request that was not answered when this client was closed. */
  readonly unreachable: ErrorCode
  /** The workflow, for logs and errors. */
  readonly facts: Facts
  /**
   * How long after an update with these requests began the next one may, ms: what is asked meanwhile goes together. As soon as it is answered, if absent, or if what
   * waits by then fills an update.
   */
  spacingMs?(requests: readonly Request[]): number
  readonly logger: Logger
}

interface Asked<Request, Response> {
  readonly requests: readonly Request[]
  isStale(): boolean
  resolve(response: Response | undefined): void
  reject(error: RelayerError): void
}

/** Waits between two tries, ms: doubled from the first to the longest. */
const firstRetryMs = 50
const longestRetryMs = 5_000

/**
 * The updates that one process sends to one workflow: at most one at a time, with all requests that were made during the one before. Each is sent until the
 * workflow has answered it or this client is closed: a run that ends, a server that restarts or cannot be reached are all the same here.
 */
export class CoalescingUpdates<Request, Update, Response extends { readonly answers: readonly unknown[] }> {
  readonly #options: CoalescingOptions<Request, Update, Response>
  readonly #process = randomBytes(4).toString('hex')
  readonly #closing = new AbortController()
  #queue: Asked<Request, Response>[] = []
  #count = 0
  #busy = false
  #isOwed = false
  /** When the next update may begin, ms since the process began. */
  #nextAt = 0

  constructor(options: CoalescingOptions<Request, Update, Response>) {
    this.#options = options
  }

  /** An update is under way, or about to leave. */
  get busy(): boolean {
    return this.#busy
  }

  get closed(): boolean {
    return this.#closing.signal.aborted
  }

  /** An id that no other process and no other call gets. */
  nextId(): string {
    return `${this.#process}-${++this.#count}`
  }

  /**
   * The response, with the answers to these requests only, in their order; undefined if `isStale` held right before they would have been sent. Throws the
   * code `unreachable` after `close`, and INTERNAL if the workflow finds the update malformed.
   */
  ask(requests: readonly Request[]): Promise<Response>
  ask(requests: readonly Request[], isStale: () => boolean): Promise<Response | undefined>
  ask(requests: readonly Request[], isStale = () => false): Promise<Response | undefined> {
    return new Promise((resolve, reject) => {
      if (this.closed) return reject(this.#unreachable())
      this.#queue.push({ requests, isStale, resolve, reject })
      this.#wake()
    })
  }

  /** Sends an update soon, even if there is no request. */
  flush(): void {
    this.#isOwed = true
    this.#wake()
  }

  /** Fails all requests that were not answered with the code `unreachable`. */
  close(): void {
    this.#closing.abort()
    for (const { reject } of this.#queue.splice(0)) reject(this.#unreachable())
  }

  #wake(): void {
    if (this.#busy || this.closed) return
    this.#busy = true
    // Requests of the same turn of the event loop go together.
    setImmediate(() => void this.#run())
  }

  async #run(): Promise<void> {
    while (!this.closed && (this.#queue.length > 0 || this.#isOwed)) {
      await this.#spaced()
      const begun = performance.now()
      const taken = this.#take()
      if (taken.length === 0 && !this.#isOwed) continue
      this.#isOwed = false
      const requests = taken.flatMap((asked) => asked.requests)
      this.#nextAt = begun + (this.#options.spacingMs?.(requests) ?? 0)
      const response = await this.#deliver(this.#options.build(requests))
      if (response instanceof RelayerError) {
        for (const { reject } of taken) reject(response)
        continue
      }
      this.#options.onResponse(response)
      let at = 0
      for (const { requests, resolve } of taken) {
        resolve({ ...response, answers: response.answers.slice(at, (at += requests.length)) })
      }
    }
    this.#busy = false
  }

  /** Waits until the next update may begin, or this client is closed. */
  async #spaced(): Promise<void> {
    const waitMs = this.#nextAt - performance.now()
    const isFull = () => !this.#options.fits(this.#queue.flatMap(({ requests }) => requests))
    if (waitMs > 0 && !isFull()) await delay(waitMs, undefined, { signal: this.#closing.signal }).catch(() => {})
  }

  /** As much of the queue as fits into an update, without dropped requests. */
  #take(): Asked<Request, Response>[] {
    const taken: Asked<Request, Response>[] = []
    const requests: Request[] = []
    for (let asked = this.#queue[0]; asked; asked = this.#queue[0]) {
      if (taken.length > 0 && !this.#options.fits([...requests, ...asked.requests])) break
      this.#queue.shift()
      if (asked.isStale()) {
        asked.resolve(undefined)
        continue
      }
      taken.push(asked)
      requests.push(...asked.requests)
    }
    return taken
  }

  /** The same update id at every try: within a run the server applies an update once, and answers it as often as it is asked. */
  async #deliver(update: Update): Promise<Response | RelayerError> {
    const { send, facts, logger } = this.#options
    const updateId = this.nextId()
    for (let tries = 0; !this.closed; tries++) {
      try {
        return await this.#orClosed(send(update, updateId))
      } catch (error) {
        if (this.closed) break
        const refusal = updateRefusal(error)
        if (refusal?.kind === 'malformed') {
          logger.error('a workflow refuses an update as malformed', { code: 'INTERNAL', ...facts, reason: refusal.detail })
          return new RelayerError('INTERNAL', { detail: `the workflow refuses the request: ${refusal.detail}`, facts })
        }
        // A full run is normal.
        const level = refusal || !isTold(tries) ? 'debug' : 'warn'
        const reason = error instanceof Error ? error.message : String(error)
        logger[level]('a workflow did not answer; the update is sent again', { code: 'WORKFLOW_UNANSWERED', ...facts, tries, reason })
        await delay(backoffMs(tries, firstRetryMs, longestRetryMs), undefined, { signal: this.#closing.signal }).catch(() => {})
      }
    }
    return this.#unreachable()
  }

  /** Rejects when this client is closed: an update hangs for as long as no worker serves its queue. */
  #orClosed<T>(work: Promise<T>): Promise<T> {
    const { signal } = this.#closing
    return new Promise((resolve, reject) => {
      const leave = () => reject(this.#unreachable())
      if (signal.aborted) leave()
      signal.addEventListener('abort', leave)
      void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
    })
  }

  #unreachable(): RelayerError {
    const { unreachable, facts } = this.#options
    return new RelayerError(unreachable, { detail: 'this process is stopping', facts })
  }
}
