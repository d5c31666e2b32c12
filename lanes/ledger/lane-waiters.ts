import { toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Logger } from '../../observability/logger.ts'
import type { LaneStatusCache } from './lane-status-cache.ts'

/** Between two looks while transfers wait, ms. A status is older than that mostly: a ledger is asked every few seconds at most. */
const lookEveryMs = 2_000
/** Transfers that are woken at a time. */
const wokenAtATime = 20
/** Most transfers that are watched; those beyond look by themselves, at the end of their wait. */
const mostWaiting = 20_000

export interface LaneWaitersOptions {
  /** The lanes of the chain. */
  readonly lanes: Pick<LaneStatusCache, 'open'>
  /** False: the transfer has ended. */
  wake(this: void, id: string): Promise<boolean>
  readonly logger: Logger
  readonly everyMs?: number
}

/**
 * The transfers of this process that wait because no lane of their chain takes work. They are woken once one does again: resumed, activated or funded. Their own
 * waits grow to a minute.
 */
export class LaneWaiters {
  readonly #options: LaneWaitersOptions
  readonly #waiting = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #busy: Promise<void> | undefined
  #stopped = false

  constructor(options: LaneWaitersOptions) {
    this.#options = options
  }

  /** This transfer waits. */
  add(id: string): void {
    if (this.#waiting.size < mostWaiting) this.#waiting.add(id)
    this.#later()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#busy
  }

  #later(): void {
    if (this.#timer || this.#stopped || this.#waiting.size === 0) return
    this.#timer = setTimeout(() => {
      this.#busy = this.#look().finally(() => {
        this.#timer = undefined
        this.#later()
      })
    }, this.#options.everyMs ?? lookEveryMs)
    this.#timer.unref()
  }

  async #look(): Promise<void> {
    const { lanes, logger } = this.#options
    if ((await lanes.open()).length === 0) return
    const ids = [...this.#waiting]
    for (let from = 0; from < ids.length && !this.#stopped; from += wokenAtATime) {
      await Promise.all(ids.slice(from, from + wokenAtATime).map((id) => this.#wake(id)))
    }
    logger.info('a lane takes work again', { woken: ids.length })
  }

  async #wake(id: string): Promise<void> {
    // Before it is woken: it may wait again before the answer is here.
    this.#waiting.delete(id)
    try {
      await this.#options.wake(id)
    } catch (error) {
      this.#waiting.add(id)
      this.#options.logger.debug('a transfer could not be woken', { transfer: id, reason: toRelayerError(error).message })
    }
  }
}
