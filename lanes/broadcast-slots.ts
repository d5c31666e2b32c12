import { Wait, type WaitLimit } from '../runtime/wait.ts'

/** A slot that an admission was promised is kept this long, ms: the step begins as soon as the workflow task of the admission ends, which may last 10 s. */
const promisedMs = 10_000
/** An admission waits this long for a slot, ms: meanwhile its workflow answers no query and hears no signal. */
const longestWaitMs = 1_000
/** After so many promises in a row for which no step came (the server starts none eagerly, and another process took them) … */
const missesInARow = 5
/** … none is made for this long, ms. */
const restMs = 15_000

/**
 * The slots for the broadcasts of one key in this process, whichever queue they come by. A step of the lane's queue waits for a slot, and gets the next one. A
 * step near at hand needs one at once, which its admission may have been promised: so in a burst admissions wait, and Temporal keeps the backlog.
 */
export class BroadcastSlots {
  /** How many there are. */
  readonly size: number
  readonly #now: () => number
  /** Slots of steps that run, and slots that were promised. */
  #taken = 0
  readonly #promised = new Map<string, NodeJS.Timeout>()
  readonly #queuedSteps = new Set<Wait<boolean>>()
  readonly #admissions = new Set<Wait<boolean>>()
  #misses = 0
  #restsUntil = 0

  /** @param now ms */
  constructor(size: number, now: () => number = Date.now) {
    this.size = size
    this.#now = now
  }

  /** True: the next step near at hand for this transfer has a slot, if it comes within ten seconds. False if none came free within a second. */
  async promise(transferId: string): Promise<boolean> {
    if (this.#now() < this.#restsUntil || this.#promised.has(transferId)) return false
    if (!(await this.#take(this.#admissions, { timeoutMs: longestWaitMs }))) return false
    this.#promised.set(transferId, setTimeout(() => this.#missed(transferId), promisedMs).unref())
    return true
  }

  /** Runs a step near at hand. Undefined if there is no slot for it now. */
  async runNear<T>(transferId: string, step: () => Promise<T>): Promise<T | undefined> {
    const promised = this.#promised.get(transferId)
    if (promised) {
      clearTimeout(promised)
      this.#promised.delete(transferId)
      this.#misses = 0
    } else if (!this.#takeNow()) return undefined
    return this.#run(step)
  }

  /** Runs a step of the lane's queue as soon as there is a slot; at once if its signal aborts, which the step meets, too. */
  async runQueued<T>(signal: AbortSignal, step: () => Promise<T>): Promise<T> {
    return (await this.#take(this.#queuedSteps, { signal })) ? this.#run(step) : step()
  }

  async #take(among: Set<Wait<boolean>>, limit: WaitLimit): Promise<boolean> {
    if (this.#takeNow()) return true
    const wait = new Wait<boolean>(limit, () => wait.resolve(false))
    among.add(wait)
    return wait.promise.finally(() => among.delete(wait))
  }

  #takeNow(): boolean {
    if (this.#taken >= this.size) return false
    this.#taken += 1
    return true
  }

  async #run<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step()
    } finally {
      this.#free()
    }
  }

  /** The slot goes to the next that waits for one. */
  #free(): void {
    for (const among of [this.#queuedSteps, this.#admissions]) {
      for (const wait of among) {
        among.delete(wait)
        // One whose time is over has its answer.
        if (!wait.over) return wait.resolve(true)
      }
    }
    this.#taken -= 1
  }

  #missed(transferId: string): void {
    this.#promised.delete(transferId)
    this.#misses += 1
    if (this.#misses >= missesInARow) {
      this.#misses = 0
      this.#restsUntil = this.#now() + restMs
    }
    this.#free()
  }
}
