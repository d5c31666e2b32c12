import { z } from 'zod'
import { assertStillGood, type TokenCheck } from '../../operations/access/principals.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Api, ApiDeps } from '../deps.ts'
import { EventFeed, feedDefaults } from '../events/feed.ts'
import { Listener, listenerDefaults } from '../events/listener.ts'
import { createChanges } from '../events/changes.ts'

/** Limits of a process, and of one token name. */
const [mostListeners, mostOfName] = [64, 8]

/** `GET /v1/events`, until the token ends. Unknown `Last-Event-ID`: `reset`. @param from.causes as `/v1/stuck` */
export function eventRoute(
  app: Api,
  deps: ApiDeps,
  { check, causes }: { readonly check: TokenCheck; readonly causes: Parameters<typeof createChanges>[1] },
): void {
  const feed = new EventFeed(createChanges(deps.client, causes), { ...feedDefaults, ...deps.events })
  const listenerOptions = { ...listenerDefaults, ...deps.events }
  const listening = new Map<string, number>()
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
  // Without HEAD: such a request would listen forever.
  app.get('/v1/events', { config: { access: 'read' }, schema, exposeHeadRoute: false }, (request, reply): void => {
    const { principal } = request
    if (!principal) throw new RelayerError('ACCESS_TOKEN_MISSING')
    const ofName = listening.get(principal.name) ?? 0
    if (feed.listeners >= mostListeners || ofName >= mostOfName) {
      throw new RelayerError('EVENTS_FULL', { facts: { listeners: feed.listeners, name: principal.name, ofName } })
    }
    listening.set(principal.name, ofName + 1)
    const from = { lastId: request.headers['last-event-id'], expiresAt: principal.expiresAt }
    const stream = new Listener(feed, { ...from, assertStillGood: () => assertStillGood(principal, check) }, listenerOptions)
    stream.body.once('close', () => {
      const left = (listening.get(principal.name) ?? 1) - 1
      if (left > 0) listening.set(principal.name, left)
      else listening.delete(principal.name)
    })
    void reply
      .headers({ 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
      .send(stream.body as unknown as string)
  })
}
