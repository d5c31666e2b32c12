import { PassThrough } from 'node:stream'
import { z } from 'zod'
import { assertNotRevoked } from '../../access/authorize.ts'
import type { Principal } from '../../domain/access/access.ts'
import { RelayerError } from '../../domain/errors.ts'
import { isUnread } from '../../temporal/client/settings-watch.ts'
import type { Api, ApiDeps } from '../deps.ts'
import { EventFeed, type FeedEvent, type FeedOptions } from '../events/feed.ts'
import { createLooks } from '../events/looks.ts'

/** A listener whose token ends, or is revoked, is noticed at the next heartbeat at the latest, ms. Proxies close what is silent for a minute. */
const heartbeatMs = 15_000
/** Listeners of a process, and of one name. */
const [mostListeners, mostOfName] = [64, 8]
/** Who reads so much slower than events come is cut off, bytes. */
const mostBuffered = 1_000_000
/** The longest that a timer can wait, ms. */
const longestTimer = 2 ** 31 - 1

/**
 * `GET /v1/events`: changes of transfers and causes as server-sent events. `Last-Event-ID` goes on where a connection was lost; where that is not known any more, the
 * first event is `reset`. It ends with the token.
 */
export function eventRoute(app: Api, deps: ApiDeps, readCauses: Parameters<typeof createLooks>[1], options?: FeedOptions): void {
  const feed = new EventFeed(createLooks(deps.client, readCauses), options)
  const listening = new Map<string, number>()
  app.addHook('preClose', () => feed.close())
  const schema = {
    summary: 'Changes of transfers and causes as they happen (server-sent events)',
    headers: z.object({ 'last-event-id': z.string().max(100).optional().describe('Of the last event that was received.') }),
    response: {
      200: {
        description: '`ready`, `transfer`, `cause`, `cause-ended`, `reset`, `cut`, `away`, `back`, `end`: docs/api.md.',
        content: { 'text/event-stream': { schema: z.string() } },
      },
    },
  }
  // Without HEAD: it would listen, and nobody would ever read or leave.
  app.get('/v1/events', { config: { access: 'read' }, schema, exposeHeadRoute: false }, (request, reply): void => {
    const { principal } = request
    if (!principal) throw new RelayerError('ACCESS_TOKEN_MISSING')
    const ofName = listening.get(principal.name) ?? 0
    if (feed.listeners >= mostListeners || ofName >= mostOfName) {
      throw new RelayerError('EVENTS_FULL', { facts: { listeners: feed.listeners, name: principal.name, ofName } })
    }
    listening.set(principal.name, ofName + 1)
    const stream = new Listener(feed, principal, request.headers['last-event-id'], () => assertGood(deps, principal))
    stream.body.once('close', () => {
      const left = (listening.get(principal.name) ?? 1) - 1
      if (left > 0) listening.set(principal.name, left)
      else listening.delete(principal.name)
    })
    // A stream is sent as it is: the type is that of the document.
    void reply
      .headers({ 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
      .send(stream.body as unknown as string)
  })
}

/** Throws ACCESS_TOKEN_REVOKED, ACCESS_TOKEN_EXPIRED. */
function assertGood({ settings }: Pick<ApiDeps, 'settings'>, principal: Principal): void {
  if (Date.now() >= principal.expiresAt) throw new RelayerError('ACCESS_TOKEN_EXPIRED')
  const now = settings()
  if (!isUnread(now)) assertNotRevoked(principal, now.tokens)
}

/** One connection. */
class Listener {
  readonly body = new PassThrough({ highWaterMark: mostBuffered })

  constructor(feed: EventFeed, { expiresAt }: Principal, lastId: string | undefined, assertStillGood: () => void) {
    const check = (): void => {
      try {
        assertStillGood()
        this.#write(': alive\n\n')
      } catch (error) {
        this.#end(error instanceof RelayerError ? error.code : 'INTERNAL')
      }
    }
    this.#write('retry: 3000\n\n')
    const missed = lastId === undefined ? [] : feed.since(lastId)
    if (!missed) this.#write('event: reset\ndata: {}\n\n')
    for (const event of missed ?? []) this.#tell(event)
    if (feed.hasLooked) this.#write('event: ready\ndata: {"what":"transfers"}\n\n')
    const leave = feed.subscribe(
      (event) => this.#tell(event),
      () => this.#end('closing'),
    )
    const heartbeat = setInterval(check, heartbeatMs).unref()
    const expiry = setTimeout(check, Math.min(longestTimer, Math.max(0, expiresAt - Date.now()))).unref()
    this.body.once('close', () => {
      clearInterval(heartbeat)
      clearTimeout(expiry)
      leave()
    })
    // The client has gone.
    this.body.on('error', () => {})
  }

  #tell({ id, type, data }: FeedEvent): void {
    // JSON has no line ends outside of its strings, and none in them.
    this.#write(`id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  #write(text: string): void {
    if (this.body.writableEnded || this.body.destroyed) return
    if (this.body.writableLength + text.length > mostBuffered) this.body.destroy()
    else this.body.write(text)
  }

  #end(reason: string): void {
    this.#write(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`)
    this.body.end()
  }
}
