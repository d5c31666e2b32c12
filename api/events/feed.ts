import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

export interface FeedEvent {
  readonly id: string
  readonly type: string
  readonly data: object
}

export type News = Omit<FeedEvent, 'id'>
/**
 * Returns the changes since the previous call. After the event `ready` for a kind of data, no change of these data is
 * missing, unless an event `cut` follows.
 */
export type Poll = () => Promise<readonly News[]>

interface FeedOptions {
  readonly everyMs: number
  readonly most: number
  /** Polling continues for this time (ms) without listeners, so that a listener that reconnects misses no event. */
  readonly lingerMs: number
}

const feedDefaults: FeedOptions = { everyMs: 2_000, most: 1_000, lingerMs: 60_000 }

/** One poll serves all listeners of a process. The newest events are kept for listeners that reconnect. */
export class EventFeed {
  readonly #poll: Poll
  readonly #options: FeedOptions
  readonly #listeners = new Map<(event: FeedEvent) => void, () => void>()
  readonly #epoch = randomBytes(4).toString('hex')
  readonly #stop = new AbortController()
  #events: FeedEvent[] = []
  #count = 0
  #loop: Promise<void> | undefined
  #leftAt = 0
  readonly #ready = new Set<string>()
  /** Kinds of data whose event `ready` was sent. New listeners read them here, because `ready` is sent once. */
  readonly ready: ReadonlySet<string> = this.#ready

  constructor(poll: Poll, options: FeedOptions = feedDefaults) {
    this.#poll = poll
    this.#options = options
  }

  get listeners(): number {
    return this.#listeners.size
  }

  /**
   * Returns the events after the event `id`. Undefined if this feed does not have that event: it was dropped, perhaps
   * with later ones, or another process sent it.
   */
  since(id: string): readonly FeedEvent[] | undefined {
    const index = this.#events.findIndex((one) => one.id === id)
    return index < 0 ? undefined : this.#events.slice(index + 1)
  }

  /** Calls `listener` with every new event, and `closed` when the feed ends. Returns a function that unsubscribes. */
  subscribe(listener: (event: FeedEvent) => void, closed: () => void): () => void {
    this.#listeners.set(listener, closed)
    this.#loop ??= this.#run().finally(() => (this.#loop = undefined))
    return () => {
      this.#listeners.delete(listener)
      this.#leftAt = performance.now()
    }
  }

  async close(): Promise<void> {
    this.#stop.abort()
    for (const closed of [...this.#listeners.values()]) closed()
    await this.#loop
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted && (this.#listeners.size > 0 || performance.now() - this.#leftAt < this.#options.lingerMs)) {
      for (const event of await this.#poll()) this.#emit(event)
      await delay(this.#options.everyMs, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  #emit({ type, data }: News): void {
    const event = { id: `${this.#epoch}-${++this.#count}`, type, data }
    if (type === 'ready') this.#ready.add((data as { readonly what: string }).what)
    this.#events = [...this.#events, event].slice(-this.#options.most)
    for (const listener of this.#listeners.keys()) listener(event)
  }
}
