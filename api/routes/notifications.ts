import { z } from 'zod'
import { assertReceiver, listReceivers } from '../../operations/notifications/receiver-report.ts'
import { orderOfNotifier, testNotifier } from '../../temporal/client/settings/notifiers.ts'
import { orderedBy } from '../access.ts'
import type { Api, ApiDeps } from '../deps.ts'
import { errorSchema } from '../errors.ts'

/** Loose, so that the fields that a newer notifier adds are shown, too. */
const receiverSchema = z.looseObject({
  name: z.string(),
  host: z.string().describe('Scheme, host and port of its URL.'),
  state: z
    .enum(['active', 'failing', 'disabled', 'waiting', 'unknown'])
    .describe('waiting: its notifier has not begun. unknown: it did not answer.'),
  events: z.array(z.string()).readonly(),
  unsent: z.number().optional().describe('Notifications that it did not take yet. What there is no room for waits in Temporal.'),
})

const params = z.object({ receiver: z.string().min(1).max(31).describe('Its name in the config.') })
const reason = z.string().trim().min(1).max(500).describe('The reason; kept by the notifier.')
const askedSchema = z.object({ asked: z.literal(true) })
/** A try takes 15 s at most, and a notifier hears of it within seconds. */
const testMs = 25_000

/** `GET /v1/notifications`, and the orders: `POST /v1/notifications/{receiver}/{test|replay|disable|enable}`. */
export function notificationRoutes(app: Api, { client, config }: ApiDeps): void {
  const { notifications } = config
  const list = {
    summary: 'The receivers of notifications, and how far each was told',
    response: { 200: z.object({ receivers: z.array(receiverSchema) }), 503: errorSchema },
  }
  app.get('/v1/notifications', { config: { access: 'read' }, schema: list }, async () => ({
    receivers: (await listReceivers(client, notifications)).map((one) => ({ ...one })),
  }))

  const failures = { 400: errorSchema, 404: errorSchema, 503: errorSchema }
  const tested = z.object({ taken: z.boolean(), why: z.string().optional().describe('Why it was not taken.') })
  const test = {
    ...{
      summary: 'Send a notification.test, and wait for what becomes of it',
      params,
      body: z.strictObject({ reason: reason.default('a test') }),
    },
    response: { 200: tested, ...failures },
  }
  app.post('/v1/notifications/:receiver/test', { config: { access: 'notifications test' }, schema: test }, async (request) => {
    const { receiver } = request.params
    assertReceiver(notifications, receiver)
    const order = { by: orderedBy(request, {}), reason: request.body.reason }
    const result = await testNotifier(client, receiver, order, testMs)
    return result ?? { taken: false, why: 'It was not tried: no process of the role ledger has it in its config.' }
  })

  const replay = {
    ...{ summary: 'Tell a receiver again what happened since then, under the same ids', params },
    body: z.strictObject({ since: z.iso.datetime().describe('In UTC.'), reason }),
    response: { 200: askedSchema, ...failures },
  }
  app.post('/v1/notifications/:receiver/replay', { config: { access: 'notifications replay' }, schema: replay }, async (request) => {
    const order = { by: orderedBy(request, {}), reason: request.body.reason }
    return send(request.params.receiver, { kind: 'replay', since: Date.parse(request.body.since), order })
  })

  const disable = {
    summary: 'Tell a receiver nothing any more',
    params,
    body: z.strictObject({ reason }),
    response: { 200: askedSchema, ...failures },
  }
  app.post('/v1/notifications/:receiver/disable', { config: { access: 'notifications disable' }, schema: disable }, async (request) =>
    send(request.params.receiver, { kind: 'disable', order: { by: orderedBy(request, {}), reason: request.body.reason } }),
  )

  const enable = {
    ...{ summary: 'Tell a receiver again, from where it was left', params },
    body: z.strictObject({ reason, fromNow: z.boolean().default(false).describe('Leave out what happened meanwhile.') }),
    response: { 200: askedSchema, ...failures },
  }
  app.post('/v1/notifications/:receiver/enable', { config: { access: 'notifications enable' }, schema: enable }, async (request) => {
    const { fromNow } = request.body
    const order = { by: orderedBy(request, {}), reason: request.body.reason }
    return send(request.params.receiver, { kind: 'enable', order, ...(fromNow && { fromNow }) })
  })

  async function send(receiver: string, given: Parameters<typeof orderOfNotifier>[2]): Promise<{ asked: true }> {
    assertReceiver(notifications, receiver)
    await orderOfNotifier(client, receiver, given)
    return { asked: true }
  }
}
