import { bisection, type Bisection, extended, nextBatch, tried, unanswered } from '../../domain/batch/bisection.ts'
import type { Waiting } from '../nonce-queue.ts'
import { NonceQueue } from '../nonce-queue.ts'

/** What became of those who were to leave together. */
export interface BatchBuilder<R, T> {
  /** False: as they are, they cannot go together. */
  readonly together: boolean
  /** What each came to. Who is missing here waits on: for the next departure, or, if they cannot go together, for that of one half of them. */
  readonly answers: ReadonlyMap<R, T>
}

export interface BatcherOptions<R, T> {
  /** Most who leave together. */
  readonly most: number
  /** Alone, or in small company, so few leave in so long, ms: a block's time. Whoever else comes waits for the rest of it, or for a full batch. */
  readonly periodMs: number
  /** Longest wait for a full batch in busy times, ms: when several came in so long. Not below `periodMs`. */
  readonly patienceMs: number
  /** What who comes on a quiet day is told. */
  readonly alone: T
  /**
   * @param suspects a part of a batch that could not go: a single one is to be looked at for itself, and must be answered
   */
  depart(riders: readonly R[], suspects: boolean): Promise<BatchBuilder<R, T>>
  /** ms since any moment. */
  readonly now?: () => number
}

/** Departures of a period before those who come have to wait for company. */
const quiet = 2
/** Who came within the patience for that to be a busy time: after an outage, say. A few seconds more are nothing then, and half the calls a lot. */
const busy = 4

/** One who waits, or leaves. */
interface Passenger<R, T> extends Waiting {
  readonly rider: R
  readonly late: T
  /** Its time is over, or nobody wants it any more. */
  expired: boolean
  settle(result: T): void
  fail(error: unknown): void
}

/**
 * Group commit: on a quiet day everyone leaves at once and alone; when many come, those who came while others left go together. What cannot go
 * together is halved until the one that is in the way is alone.
 */
export class Batcher<R extends Omit<Waiting, 'since'>, T> {
  readonly #options: BatcherOptions<R, T>
  readonly #now: () => number
  readonly #room = new NonceQueue<Passenger<R, T>>()
  /** Sizes, and the halves of what could not go together. */
  #state: Bisection<Passenger<R, T>>
  #departures: readonly number[] = []
  #arrivals: readonly number[] = []
  #leaving: readonly Passenger<R, T>[] = []
  #forming = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: BatcherOptions<R, T>) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    this.#state = bisection([], { most: options.most })
  }

  /** How many wait. */
  get waiting(): number {
    return this.#room.size + this.#state.halves.flat().filter(({ expired }) => !expired).length
  }

  /**
   * What the departure came to that took this one along; `late` if none did in time, or when the signal aborts. Who is leaving does not get off any
   * more. Rejects with what a departure throws.
   */
  board(rider: R, { timeoutMs, signal, late }: { timeoutMs: number; signal?: AbortSignal; late: T }): Promise<T> {
    if (signal?.aborted) return Promise.resolve(late)
    this.#arrivals = [...this.#arrivals, this.#now()].slice(-busy)
    if (this.waiting === 0 && !this.#forming && !this.#busy && this.#recent() < quiet) {
      this.#departures = [...this.#departures, this.#now()]
      return Promise.resolve(this.#options.alone)
    }
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', expire)
      }
      const { priority, source, deadline } = rider
      const passenger: Passenger<R, T> = {
        ...{ rider, priority, source, deadline, since: this.#now(), late, expired: false },
        settle: (result) => {
          end()
          resolve(result)
        },
        fail: (error) => {
          end()
          reject(error instanceof Error ? error : new Error(String(error)))
        },
      }
      const expire = () => {
        passenger.expired = true
        if (this.#leaving.includes(passenger)) return
        this.#room.leave(passenger)
        passenger.settle(late)
      }
      const timer = setTimeout(expire, timeoutMs)
      signal?.addEventListener('abort', expire)
      this.#room.enter(passenger)
      this.#pump()
    })
  }

  #recent(): number {
    const since = this.#now() - this.#options.periodMs
    this.#departures = this.#departures.filter((at) => at > since)
    return this.#departures.length
  }

  get #busy(): boolean {
    const [first] = this.#arrivals
    return first !== undefined && this.#arrivals.length === busy && first > this.#now() - this.#options.patienceMs
  }

  /** How long until those in the room leave without more company, ms; 0: now. Undefined: there is nobody. */
  #leaveInMs(): number | undefined {
    if (this.#state.halves.length > 0 || this.#room.size >= this.#state.size) return 0
    if (this.#room.size === 0) return undefined
    const { periodMs, patienceMs } = this.#options
    const now = this.#now()
    if (this.#busy) return Math.max(0, Math.min(...this.#room.all.map(({ since }) => since)) + patienceMs - now)
    return this.#recent() < quiet ? 0 : Math.max(0, (this.#departures[0] ?? now) + periodMs - now)
  }

  #pump(): void {
    clearTimeout(this.#timer)
    if (this.#forming) return
    const waitMs = this.#leaveInMs()
    if (waitMs === 0) return void this.#form()
    if (waitMs !== undefined) this.#timer = setTimeout(() => this.#pump(), Math.max(1, Math.ceil(waitMs)))
  }

  async #form(): Promise<void> {
    this.#forming = true
    while (this.#leaveInMs() === 0) await this.#leave()
    this.#forming = false
    this.#pump()
  }

  /** One departure. Never rejects. */
  async #leave(): Promise<void> {
    const suspects = this.#state.halves.length > 0
    if (!suspects) this.#state = extended(this.#state, this.#room.take(this.#state.size, this.#now()))
    const batch = (nextBatch(this.#state) ?? []).filter(({ expired }) => !expired)
    if (batch.length === 0) return this.#goOn(tried(this.#state, true))
    this.#departures = [...this.#departures, this.#now()]
    this.#leaving = batch
    const left = await this.#depart(batch, suspects)
    this.#leaving = []
    if (!left) return this.#goOn(unanswered(this.#state))
    this.#goOn(tried(this.#state, left.together))
    this.#answer(batch, left)
  }

  #goOn(state: Bisection<Passenger<R, T>>): void {
    this.#state = { ...state, isolated: [] }
  }

  /** Who has no answer waits on, in the room or in a half of those who could not go together. */
  #answer(batch: readonly Passenger<R, T>[], { together, answers }: BatchBuilder<R, T>): void {
    const halved = new Set(this.#state.halves.flat())
    for (const passenger of batch) {
      const answer = answers.get(passenger.rider) ?? (passenger.expired ? passenger.late : undefined)
      // Of one that could not go even alone, whoever departs has to say why.
      const lost = !together && !halved.has(passenger)
      if (answer !== undefined || lost) {
        passenger.expired = true
        passenger.settle(answer ?? passenger.late)
      } else if (together) this.#room.enter(passenger)
    }
  }

  /** Undefined: it failed, and with it all who were to leave. */
  async #depart(batch: readonly Passenger<R, T>[], suspects: boolean): Promise<BatchBuilder<R, T> | undefined> {
    try {
      const riders = batch.map(({ rider }) => rider)
      return await this.#options.depart(riders, suspects)
    } catch (error) {
      for (const passenger of batch) {
        passenger.expired = true
        passenger.fail(error)
      }
      return undefined
    }
  }
}
