import { toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Logger } from '../../observability/logger.ts'
import { mapLimited } from '../../runtime/map-limited.ts'
import type { LaneStatusCache } from './lane-status-cache.ts'

const checkEveryMs = 2_000
const wokenAtOnce = 20
/** Most transfers that are watched. The rest wait until their own time is over. */
const mostWaiting = 20_000

export interface OpenLaneWatcherOptions {
  readonly lanes: Pick<LaneStatusCache, 'open'>
  /** False: the transfer has ended. */
  wake(this: void, id: string): Promise<boolean>
  readonly logger: Logger
  readonly everyMs?: number
}

/** Wakes transfers of this process once a lane of their chain takes work again. Their own waits grow to a minute. */
export class OpenLaneWatcher {
  readonly #options: OpenLaneWatcherOptions
  readonly #waiting = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #busy: Promise<void> | undefined
  #stopped = false

  constructor(options: OpenLaneWatcherOptions) {
    this.#options = options
  }

  watchFor(id: string): void {
    if (this.#waiting.size < mostWaiting) this.#waiting.add(id)
    this.#schedule()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#busy
  }

  #schedule(): void {
    if (this.#timer || this.#stopped || this.#waiting.size === 0) return
    this.#timer = setTimeout(() => {
      this.#busy = this.#check().finally(() => {
        this.#timer = undefined
        this.#schedule()
      })
    }, this.#options.everyMs ?? checkEveryMs)
    this.#timer.unref()
  }

  async #check(): Promise<void> {
    const { lanes, logger } = this.#options
    if ((await lanes.open()).length === 0) return
    const ids = [...this.#waiting]
    await mapLimited(ids, wokenAtOnce, (id) => this.#wake(id))
    logger.info('a lane takes work again', { woken: ids.length })
  }

  async #wake(id: string): Promise<void> {
    if (this.#stopped) return
    // Removed first: the transfer may wait again before this call ends.
    this.#waiting.delete(id)
    try {
      await this.#options.wake(id)
    } catch (error) {
      this.#waiting.add(id)
      this.#options.logger.debug('a transfer could not be woken', { transfer: id, reason: toRelayerError(error).message })
    }
  }
}
