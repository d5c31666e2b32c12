import { PassThrough } from 'node:stream'
import { z } from 'zod'
import { assertStillGood, type TokenCheck } from '../../operations/access/principals.ts'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Api, ApiDeps } from '../deps.ts'
import { createChanges } from '../events/changes.ts'
import { EventFeed, type FeedEvent } from '../events/feed.ts'

const [mostListeners, mostOfName] = [64, 8]
/** Interval (ms) of heartbeats, which also check the token. Proxies close a connection after a minute of silence. */
const usualHeartbeatMs = 15_000
/**
 * Maximum bytes in each of the two buffers of `body`. A listener that reads so slowly that both are full is
 * disconnected.
 */
const mostBuffered = 1_000_000
const longestTimer = 2 ** 31 - 1

/** The stream ends if the token is invalid or the listener is too slow. An unknown `Last-Event-ID` gets `reset`. */
export function eventRoute(
  app: Api,
  { client, heartbeatMs = usualHeartbeatMs }: ApiDeps,
  { check, causes }: { readonly check: TokenCheck; readonly causes: Parameters<typeof createChanges>[1] },
): void {
  const feed = new EventFeed(createChanges(client, causes))
  const listening: string[] = []
  app.addHook('preClose', () => feed.close())
  const schema = {
    summary: 'Changes of transfers and causes as they happen (server-sent events)',
    headers: z.object({ 'last-event-id': z.string().max(100).optional().describe('The id of the last event that was received.') }),
    response: {
      200: {
        description: '`ready`, `transfer`, `cause`, `cause-ended`, `reset`, `cut`, `away`, `back`, `end`: docs/start/http-api.md.',
        content: { 'text/event-stream': { schema: z.string() } },
      },
    },
  }
  // No HEAD route, because a HEAD request would stay open for ever.
  app.get('/v1/events', { config: { access: 'read' }, schema, exposeHeadRoute: false }, (request, reply): void => {
    const { principal } = request
    if (!principal) throw new RelayerError('ACCESS_TOKEN_MISSING')
    const { name, expiresAt } = principal
    const ofName = listening.filter((one) => one === name).length
    if (feed.listeners >= mostListeners || ofName >= mostOfName)
      throw new RelayerError('EVENTS_FULL', { facts: { listeners: feed.listeners, name, ofName } })
    listening.push(name)
    const lastId = request.headers['last-event-id']
    const body = openListener(feed, { lastId, expiresAt, heartbeatMs, assertStillGood: () => assertStillGood(principal, check) })
    body.once('close', () => void listening.splice(listening.indexOf(name), 1))
    void reply
      .headers({ 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
      .send(body as unknown as string)
  })
}

interface Listening {
  readonly lastId?: string | undefined
  /** ms since the epoch */
  readonly expiresAt: number
  readonly heartbeatMs: number
  /** Throws a RelayerError if the token has expired or was revoked, or if the token's key was removed. */
  readonly assertStillGood: () => Promise<void>
}

export function openListener(feed: EventFeed, { lastId, expiresAt, heartbeatMs, assertStillGood }: Listening): PassThrough {
  const body = new PassThrough({ highWaterMark: mostBuffered })
  const write = (text: string) => {
    if (body.writableEnded || body.destroyed) return
    const bytes = Buffer.from(text)
    if (body.writableLength + bytes.length > mostBuffered) body.destroy()
    else body.write(bytes)
  }
  const send = ({ id, type, data }: FeedEvent) => write(`id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`)
  const end = (reason: string) => {
    write(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`)
    body.end()
  }
  const check = () =>
    void assertStillGood().then(
      () => write(': alive\n\n'),
      (error: unknown) => end(toRelayerError(error).code),
    )
  write('retry: 3000\n\n')
  const missed = lastId === undefined ? [] : feed.since(lastId)
  if (!missed) write('event: reset\ndata: {}\n\n')
  for (const event of missed ?? []) send(event)
  for (const what of feed.ready) write(`event: ready\ndata: ${JSON.stringify({ what })}\n\n`)
  const leave = feed.subscribe(send, () => end('closing'))
  const heartbeat = setInterval(check, heartbeatMs).unref()
  const expiry = setTimeout(check, Math.min(longestTimer, Math.max(0, expiresAt - Date.now()))).unref()
  body.once('close', () => {
    clearInterval(heartbeat)
    clearTimeout(expiry)
    leave()
  })
  body.on('error', () => {})
  return body
}
