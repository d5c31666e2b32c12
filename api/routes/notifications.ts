import { z } from 'zod'
import { listReceivers } from '../../operations/notifications/receiver-report.ts'
import type { Api, ApiDeps } from '../deps.ts'
import { errorSchema } from '../errors.ts'

/** Loose: fields that a newer notifier adds are shown, too. */
const receiverSchema = z.looseObject({
  name: z.string(),
  host: z.string().describe('Scheme, host and port of its URL.'),
  state: z
    .enum(['active', 'failing', 'disabled', 'waiting', 'unknown'])
    .describe('waiting: its notifier has not begun. unknown: it did not answer.'),
  events: z.array(z.string()).readonly(),
  unsent: z.number().optional().describe('Notifications that it has not accepted yet. More may wait in Temporal.'),
})

/** `GET /v1/notifications`. */
export function notificationRoutes(app: Api, { client, config }: ApiDeps): void {
  const schema = {
    summary: 'The receivers of notifications, and the progress of each',
    response: { 200: z.object({ receivers: z.array(receiverSchema) }), 503: errorSchema },
  }
  app.get('/v1/notifications', { config: { access: 'read' }, schema }, async () => ({
    receivers: (await listReceivers(client, config.notifications)).map((one) => ({ ...one })),
  }))
}
