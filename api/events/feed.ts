import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

/** One event as listeners get it. */
export interface FeedEvent {
  /** Unique, and in order within one process. */
  readonly id: string
  readonly type: string
  readonly data: object
}

/** What happened since the look before. `ready` (`data.what`): what changes there from now on is told. */
type Look = () => Promise<readonly Omit<FeedEvent, 'id'>[]>

export interface FeedOptions {
  /** Between two looks, ms. */
  readonly everyMs: number
  /** Events that are kept for listeners that come back. */
  readonly most: number
  /** So long the feed goes on looking without listeners, ms: who comes back within it misses nothing. */
  readonly lingerMs: number
}

export const feedDefaults: FeedOptions = { everyMs: 2_000, most: 1_000, lingerMs: 60_000 }

/**
 * One loop of looks for all listeners of a process; there is none while nobody listens. The newest events are kept, so that a listener that lost its connection
 * goes on where it stopped.
 */
export class EventFeed {
  readonly #look: Look
  readonly #options: FeedOptions
  readonly #listeners = new Set<(event: FeedEvent) => void>()
  readonly #onClose = new Set<() => void>()
  /** Ids of another process are none of these. */
  readonly #epoch = randomBytes(4).toString('hex')
  readonly #stop = new AbortController()
  #events: FeedEvent[] = []
  #count = 0
  #loop: Promise<void> | undefined
  #leftAt = 0
  readonly #ready = new Set<string>()

  constructor(look: Look, options: FeedOptions = feedDefaults) {
    this.#look = look
    this.#options = options
  }

  /** Of what changes are told: who comes later has missed its `ready`. */
  get ready(): readonly string[] {
    return [...this.#ready]
  }

  get listeners(): number {
    return this.#listeners.size
  }

  /** The events after this one, in order; undefined: it is not known here (any more), and some may be missing. */
  since(id: string): readonly FeedEvent[] | undefined {
    const index = this.#events.findIndex((one) => one.id === id)
    return index < 0 ? undefined : this.#events.slice(index + 1)
  }

  /** Listens until the returned function is called. `closed`: the feed ends. */
  subscribe(listener: (event: FeedEvent) => void, closed: () => void): () => void {
    this.#listeners.add(listener)
    this.#onClose.add(closed)
    this.#loop ??= this.#run().finally(() => (this.#loop = undefined))
    return () => {
      this.#listeners.delete(listener)
      this.#onClose.delete(closed)
      this.#leftAt = Date.now()
    }
  }

  /** Ends all listeners. */
  async close(): Promise<void> {
    this.#stop.abort()
    for (const closed of [...this.#onClose]) closed()
    await this.#loop
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted && (this.#listeners.size > 0 || Date.now() - this.#leftAt < this.#options.lingerMs)) {
      for (const event of await this.#look()) this.#tell(event)
      await delay(this.#options.everyMs, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  #tell({ type, data }: Omit<FeedEvent, 'id'>): void {
    const event = { id: `${this.#epoch}-${++this.#count}`, type, data }
    if (type === 'ready') this.#ready.add((data as { readonly what: string }).what)
    this.#events = [...this.#events, event].slice(-this.#options.most)
    for (const listener of this.#listeners) listener(event)
  }
}
