import { bisection, type Bisection, tried } from '../../domain/batch/bisection.ts'
import { FairQueue, type Waiting } from '../fair-queue.ts'
import { Wait, type WaitLimit } from '../../runtime/wait.ts'

export interface Flushed<C, T> {
  readonly together: boolean
  /** Candidates without an answer are flushed again: with later candidates if `together`, otherwise in halves. */
  readonly answers: ReadonlyMap<C, T>
}

interface BatcherOptions<C, T> {
  readonly most: number
  /** Time of one block, ms. The first two flushes in each period are immediate. */
  readonly periodMs: number
  readonly fullBatchMs: number
  readonly alone: T
  readonly check?: (candidate: C) => Promise<void>
  /** `isHalf`: half of a failed batch. A half of one candidate is checked and answered alone. */
  flush(candidates: readonly C[], isHalf: boolean): Promise<Flushed<C, T>>
  readonly now?: () => number
}

const quietFlushes = 2
/** The lane counts as busy if this many candidates arrive within `fullBatchMs`. */
const busyArrivals = 4

interface Member<C, T> extends Waiting {
  readonly candidate: C
  readonly late: T
  expired: boolean
  readonly wait: Wait<T>
}

/**
 * Groups candidates into batches. On a quiet lane, a candidate is sent alone. Candidates that arrive during a flush
 * share the next flush.
 */
export class Batcher<C extends Omit<Waiting, 'since'>, T> {
  readonly #options: BatcherOptions<C, T>
  readonly #now: () => number
  readonly #queue = new FairQueue<Member<C, T>>()
  #state: Bisection<Member<C, T>>
  #flushes: readonly number[] = []
  #arrivals: readonly number[] = []
  #inFlush: readonly Member<C, T>[] = []
  #flushing = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: BatcherOptions<C, T>) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    this.#state = bisection({ most: options.most })
  }

  get waiting(): number {
    return this.#queue.size + this.#state.halves.flat().filter(({ expired }) => !expired).length
  }

  /** Resolves with `late` if no flush takes the candidate in time. Rejects with the errors of `check` and `flush`. */
  async enqueue(candidate: C, options: WaitLimit & { late: T }): Promise<T> {
    if (options.signal?.aborted) return options.late
    this.#arrivals = [...this.#arrivals, this.#now()].slice(-busyArrivals)
    if (this.waiting === 0 && !this.#flushing && !this.#busy && this.#recentFlushes() < quietFlushes) {
      this.#flushes = [...this.#flushes, this.#now()]
      return this.#options.alone
    }
    if (this.#options.check) await this.#options.check(candidate)
    return this.#wait(candidate, options)
  }

  #wait(candidate: C, { late, ...limit }: WaitLimit & { late: T }): Promise<T> {
    const { priority, source, deadline } = candidate
    const member: Member<C, T> = {
      ...{ candidate, priority, source, deadline, since: this.#now(), late, expired: false },
      wait: new Wait(limit, () => {
        member.expired = true
        if (this.#inFlush.includes(member)) return
        this.#queue.leave(member)
        member.wait.resolve(late)
      }),
    }
    this.#queue.enter(member)
    this.#pump()
    return member.wait.promise
  }

  #recentFlushes(): number {
    const since = this.#now() - this.#options.periodMs
    this.#flushes = this.#flushes.filter((at) => at > since)
    return this.#flushes.length
  }

  get #busy(): boolean {
    const [first] = this.#arrivals
    return first !== undefined && this.#arrivals.length === busyArrivals && first > this.#now() - this.#options.fullBatchMs
  }

  #dueInMs(): number | undefined {
    if (this.#state.halves.length > 0 || this.#queue.size >= this.#state.size) return 0
    if (this.#queue.size === 0) return undefined
    const { periodMs, fullBatchMs } = this.#options
    const now = this.#now()
    if (this.#busy) return Math.max(0, Math.min(...this.#queue.all.map(({ since }) => since)) + fullBatchMs - now)
    return this.#recentFlushes() < quietFlushes ? 0 : Math.max(0, (this.#flushes[0] ?? now) + periodMs - now)
  }

  #pump(): void {
    clearTimeout(this.#timer)
    if (this.#flushing) return
    const waitMs = this.#dueInMs()
    if (waitMs === 0) return void this.#flushAll()
    if (waitMs !== undefined) this.#timer = setTimeout(() => this.#pump(), Math.max(1, Math.ceil(waitMs)))
  }

  async #flushAll(): Promise<void> {
    this.#flushing = true
    while (this.#dueInMs() === 0) await this.#flushOne()
    this.#flushing = false
    this.#pump()
  }

  async #flushOne(): Promise<void> {
    const [half] = this.#state.halves
    const batch = half ?? this.#queue.take(this.#state.size, this.#now())
    const members = batch.filter(({ expired }) => !expired)
    if (members.length === 0) {
      this.#state = tried(this.#state, batch, 'completed')
      return
    }
    this.#flushes = [...this.#flushes, this.#now()]
    this.#inFlush = members
    const flushed = await this.#tryFlush(members, half !== undefined)
    this.#inFlush = []
    const result = flushed?.together ? 'completed' : 'failed'
    this.#state = tried(this.#state, batch, flushed ? result : 'unanswered')
    if (flushed) this.#answer(members, flushed)
  }

  #answer(members: readonly Member<C, T>[], { together, answers }: Flushed<C, T>): void {
    const halved = new Set(this.#state.halves.flat())
    for (const member of members) {
      const answer = answers.get(member.candidate) ?? (member.expired ? member.late : undefined)
      // A failed batch of one candidate has no halves, so no later flush would answer the candidate.
      const lost = !together && !halved.has(member)
      if (answer !== undefined || lost) {
        member.expired = true
        member.wait.resolve(answer ?? member.late)
      } else if (together) this.#queue.enter(member)
    }
  }

  async #tryFlush(members: readonly Member<C, T>[], isHalf: boolean): Promise<Flushed<C, T> | undefined> {
    try {
      const candidates = members.map(({ candidate }) => candidate)
      return await this.#options.flush(candidates, isHalf)
    } catch (error) {
      for (const member of members) {
        member.expired = true
        member.wait.reject(error)
      }
      return undefined
    }
  }
}
