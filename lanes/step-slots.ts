import { Wait, type WaitLimit } from '../runtime/wait.ts'

/** ms for which a promised slot is kept, because the workflow task that schedules the step may take this long. */
const promisedMs = 10_000
/** Maximum wait of an admission for a slot, ms. Short, because the workflow answers no queries during the wait. */
const longestWaitMs = 1_000
/**
 * Number of unused promises in a row after which promises stop for `restMs`, because another process probably gets the
 * steps.
 */
const missesInARow = 5
const restMs = 15_000

/** Broadcast slots of one key. Steps from the queue wait for a slot. Local steps need a promised or a free slot. */
export class StepSlots<Kept = unknown> {
  readonly size: number
  #taken = 0
  readonly #promised = new Map<string, { readonly timer: NodeJS.Timeout; readonly kept: Kept | undefined }>()
  readonly #queuedSteps = new Set<Wait<boolean>>()
  readonly #admissions = new Set<Wait<boolean>>()
  #misses = 0
  #restsUntil = 0

  constructor(size: number) {
    this.size = size
  }

  /**
   * Promises the transfer's local step a slot for ten seconds. False if no slot is free within a second, if the
   * transfer has a promise already, or for a time after too many unused promises.
   */
  async promise(transferId: string, kept?: Kept): Promise<boolean> {
    if (performance.now() < this.#restsUntil || this.#promised.has(transferId)) return false
    if (!(await this.#take(this.#admissions, { timeoutMs: longestWaitMs }))) return false
    this.#promised.set(transferId, { timer: setTimeout(() => this.#missed(transferId), promisedMs).unref(), kept })
    return true
  }

  /** Takes the promised slot, or a free slot. Undefined if there is none. Call `free` once. */
  takeLocal(transferId: string): { readonly kept: Kept | undefined; readonly free: () => void } | undefined {
    const promised = this.#promised.get(transferId)
    if (promised) {
      clearTimeout(promised.timer)
      this.#promised.delete(transferId)
      this.#misses = 0
    } else if (!this.#takeNow()) return undefined
    return { kept: promised?.kept, free: () => this.#free() }
  }

  /**
   * Runs a step from the queue in a slot. If the signal aborts, the step runs without a slot, because the step itself
   * handles the abort.
   */
  async runQueued<T>(signal: AbortSignal, step: () => Promise<T>): Promise<T> {
    if (!(await this.#take(this.#queuedSteps, { signal }))) return step()
    try {
      return await step()
    } finally {
      this.#free()
    }
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

  #free(): void {
    for (const among of [this.#queuedSteps, this.#admissions]) {
      for (const wait of among) {
        among.delete(wait)
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
      this.#restsUntil = performance.now() + restMs
    }
    this.#free()
  }
}
