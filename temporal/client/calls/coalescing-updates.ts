import { randomBytes } from 'node:crypto'
import { backoffMs } from '../../../domain/backoff.ts'
import { type ErrorCode, type Facts, RelayerError } from '../../../domain/catalogue/errors.ts'
import type { Logger } from '../../../observability/logger.ts'
import { pause, unlessAborted } from '../../../runtime/wait.ts'
import { updateRefusal } from '../connection/errors.ts'

export interface CoalescingOptions<Request, Response> {
  /** Whether one update has room for the requests. A request that is too large is sent alone. */
  fits(requests: readonly Request[]): boolean
  /** Returns a function that sends the requests as one update. A retry calls the function with the same `updateId`. */
  build(requests: readonly Request[]): (updateId: string) => Promise<Response>
  onResponse(response: Response): void
  readonly unreachable: ErrorCode
  readonly facts: Facts
  /** Minimum time between the start of this update and the next one, ms. A full update does not wait. */
  spacingMs?(requests: readonly Request[]): number
  readonly logger: Logger
}

interface Asked<Request, Response> {
  readonly requests: readonly Request[]
  isStale(): boolean
  resolve(response: Response | undefined): void
  reject(error: RelayerError): void
}

const firstRetryMs = 50
const longestRetryMs = 5_000
/** Among failed tries, the first and then every 60th is logged as a warning. */
const warnEvery = 60

/** Sends one update at a time. An update without an answer is sent again until the workflow answers. */
export class CoalescingUpdates<Request, Response extends { readonly answers: readonly unknown[] }> {
  readonly #options: CoalescingOptions<Request, Response>
  readonly #process = randomBytes(4).toString('hex')
  readonly #closing = new AbortController()
  #queue: Asked<Request, Response>[] = []
  #count = 0
  #busy = false
  #isOwed = false
  #nextAt = 0

  constructor(options: CoalescingOptions<Request, Response>) {
    this.#options = options
  }

  get busy(): boolean {
    return this.#busy
  }

  get closed(): boolean {
    return this.#closing.signal.aborted
  }

  nextId(): string {
    return `${this.#process}-${++this.#count}`
  }

  /**
   * Returns undefined if `isStale()` is true when the update is built. Throws INTERNAL for malformed requests, and
   * `unreachable` after `close`.
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

  flush(): void {
    this.#isOwed = true
    this.#wake()
  }

  close(): void {
    this.#closing.abort()
    for (const { reject } of this.#queue.splice(0)) reject(this.#unreachable())
  }

  #wake(): void {
    if (this.#busy || this.closed) return
    this.#busy = true
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
      const response = await this.#deliver(requests)
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

  /** Waits in a loop, because Node counts whole milliseconds, so that a timer may fire up to 2 ms early. */
  async #spaced(): Promise<void> {
    const isFull = () => !this.#options.fits(this.#queue.flatMap(({ requests }) => requests))
    const waitMs = () => this.#nextAt - performance.now()
    while (!this.closed && waitMs() > 0 && !isFull()) await pause(waitMs(), this.#closing.signal)
  }

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

  /** Repeats an update until it is answered. The repeats are safe, because a run applies each update id only once. */
  async #deliver(requests: readonly Request[]): Promise<Response | RelayerError> {
    const { build, facts, logger } = this.#options
    const send = build(requests)
    const updateId = this.nextId()
    for (let tries = 0; !this.closed; tries++) {
      try {
        // While no worker serves the workflow, an update never returns.
        return await unlessAborted(this.#closing.signal, send(updateId), () => this.#unreachable())
      } catch (error) {
        if (this.closed) break
        const refusal = updateRefusal(error)
        if (refusal?.kind === 'malformed') {
          logger.error('a workflow refuses an update as malformed', { code: 'INTERNAL', ...facts, reason: refusal.detail })
          return new RelayerError('INTERNAL', { detail: `the workflow refuses the request: ${refusal.detail}`, facts })
        }
        // A full run refuses updates until the next run begins, which is normal.
        const level = refusal || tries % warnEvery > 0 ? 'debug' : 'warn'
        const reason = error instanceof Error ? error.message : String(error)
        logger[level]('a workflow did not answer; the update is sent again', { code: 'WORKFLOW_UNANSWERED', ...facts, tries, reason })
        await pause(backoffMs(tries, firstRetryMs, longestRetryMs), this.#closing.signal)
      }
    }
    return this.#unreachable()
  }

  #unreachable(): RelayerError {
    const { unreachable, facts } = this.#options
    return new RelayerError(unreachable, { detail: 'this process is stopping', facts })
  }
}
