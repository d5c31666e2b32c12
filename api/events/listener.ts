import { PassThrough } from 'node:stream'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { EventFeed, FeedEvent } from './feed.ts'

export interface ListenerOptions {
  /** A listener whose token is no longer good is noticed at the next heartbeat at the latest, ms. Proxies close what is silent for a minute. */
  readonly heartbeatMs: number
  /** So much is kept on either side of a connection for who reads slower than events come, bytes; who has more to read is cut off. */
  readonly mostBuffered: number
}

export const listenerDefaults: ListenerOptions = { heartbeatMs: 15_000, mostBuffered: 1_000_000 }

/** The longest that a timer can wait, ms. */
const longestTimer = 2 ** 31 - 1

/** Whose connection it is. */
export interface Listening {
  /** Of the last event that was received; absent: it begins now. */
  readonly lastId?: string | undefined
  /** When the token ends, ms since the epoch. */
  readonly expiresAt: number
  /** Throws a RelayerError once the token is not good any more: expired, revoked, or of a key that was removed. */
  readonly assertStillGood: () => Promise<void>
}

/** One connection to the events. */
export class Listener {
  readonly body: PassThrough
  readonly #listening: Listening
  readonly #mostBuffered: number

  constructor(feed: EventFeed, listening: Listening, { heartbeatMs, mostBuffered }: ListenerOptions = listenerDefaults) {
    this.#listening = listening
    this.#mostBuffered = mostBuffered
    this.body = new PassThrough({ highWaterMark: mostBuffered })
    const { lastId, expiresAt } = listening
    this.#write('retry: 3000\n\n')
    const missed = lastId === undefined ? [] : feed.since(lastId)
    if (!missed) this.#write('event: reset\ndata: {}\n\n')
    for (const event of missed ?? []) this.#tell(event)
    for (const what of feed.ready) this.#write(`event: ready\ndata: ${JSON.stringify({ what })}\n\n`)
    const leave = feed.subscribe(
      (event) => this.#tell(event),
      () => this.#end('closing'),
    )
    const heartbeat = setInterval(() => void this.#check(), heartbeatMs).unref()
    const expiry = setTimeout(() => void this.#check(), Math.min(longestTimer, Math.max(0, expiresAt - Date.now()))).unref()
    this.body.once('close', () => {
      clearInterval(heartbeat)
      clearTimeout(expiry)
      leave()
    })
    // The client has gone.
    this.body.on('error', () => {})
  }

  async #check(): Promise<void> {
    try {
      await this.#listening.assertStillGood()
      this.#write(': alive\n\n')
    } catch (error) {
      this.#end(error instanceof RelayerError ? error.code : 'INTERNAL')
    }
  }

  #tell({ id, type, data }: FeedEvent): void {
    // JSON has no line ends outside of its strings, and none in them.
    this.#write(`id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  #write(text: string): void {
    if (this.body.writableEnded || this.body.destroyed) return
    const bytes = Buffer.from(text)
    if (this.body.writableLength + bytes.length > this.#mostBuffered) this.body.destroy()
    else this.body.write(bytes)
  }

  #end(reason: string): void {
    this.#write(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`)
    this.body.end()
  }
}
