export interface Waiting {
  /** From 1 (served first) to 5. */
  readonly priority: number
  readonly source: string
  readonly since: number
  readonly deadline?: number | undefined
}

/** Time (ms) in which a waiter rises by one priority, so that no waiter starves. */
const ageingMs = 10_000

/**
 * Ranks waiters by priority, which rises with time, then by the last turn of their source, by deadline, and by arrival.
 */
export class FairQueue<T extends Waiting> {
  readonly #waiters = new Set<T>()
  readonly #lastServed = new Map<string, number>()
  #turn = 0

  get size(): number {
    return this.#waiters.size
  }

  get all(): readonly T[] {
    return [...this.#waiters]
  }

  enter(waiter: T): void {
    this.#waiters.add(waiter)
  }

  leave(waiter: T): void {
    this.#waiters.delete(waiter)
  }

  take(count: number, now: number): T[] {
    const taken: T[] = []
    while (taken.length < count && this.#waiters.size > 0) {
      const next = this.all.reduce((best, one) => (this.#compare(one, best, now) < 0 ? one : best))
      this.#waiters.delete(next)
      this.#lastServed.set(next.source, ++this.#turn)
      taken.push(next)
    }
    if (this.#waiters.size === 0) this.#lastServed.clear()
    return taken
  }

  #compare(a: T, b: T, now: number): number {
    const turn = ({ source }: T) => this.#lastServed.get(source) ?? 0
    const due = ({ deadline }: T) => deadline ?? Number.MAX_SAFE_INTEGER
    return this.#rank(a, now) - this.#rank(b, now) || turn(a) - turn(b) || due(a) - due(b) || a.since - b.since
  }

  #rank({ priority, since }: Waiting, now: number): number {
    return priority - Math.floor((now - since) / ageingMs)
  }
}
