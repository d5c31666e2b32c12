import { PassThrough } from 'node:stream'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { EventFeed, FeedEvent } from './feed.ts'

export interface ListenerOptions {
  /** At each heartbeat the token is checked again, ms. Proxies close a connection that is silent for a minute. */
  readonly heartbeatMs: number
  /** Bytes, on either side. A slower listener is disconnected. */
  readonly mostBuffered: number
}

export const listenerDefaults: ListenerOptions = { heartbeatMs: 15_000, mostBuffered: 1_000_000 }

/** The longest timer of Node, ms. */
const longestTimer = 2 ** 31 - 1

export interface Listening {
  /** Absent: it begins now. */
  readonly lastId?: string | undefined
  /** ms since the epoch. */
  readonly expiresAt: number
  /** Throws a RelayerError once the token is expired or revoked, or its key was removed. */
  readonly assertStillGood: () => Promise<void>
}

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
    for (const event of missed ?? []) this.#send(event)
    for (const what of feed.ready) this.#write(`event: ready\ndata: ${JSON.stringify({ what })}\n\n`)
    const leave = feed.subscribe(
      (event) => this.#send(event),
      () => this.#end('closing'),
    )
    const heartbeat = setInterval(() => void this.#check(), heartbeatMs).unref()
    const expiry = setTimeout(() => void this.#check(), Math.min(longestTimer, Math.max(0, expiresAt - Date.now()))).unref()
    this.body.once('close', () => {
      clearInterval(heartbeat)
      clearTimeout(expiry)
      leave()
    })
    // The client may disconnect at any time.
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

  #send({ id, type, data }: FeedEvent): void {
    // JSON escapes line ends in strings.
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
