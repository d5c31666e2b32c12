import { z } from 'zod'
import { orderedNames } from '../../config/chains.ts'
import { type KeptOrders, orderSubjects, readKeptOrders } from '../../temporal/client/settings/kept-orders.ts'
import { limitSchema, textSchema } from '../../operations/orders/values.ts'
import type { Api, ApiDeps } from '../deps.ts'
import { createReadGate, createSharedReads } from '../read-gate.ts'

const usualDays = 7
/** Time (ms) for which callers share an answer, because a read asks every lane and stream, and perhaps transfers. */
const keepMs = 3_000

const orderSchema = z.object({
  at: z.string().describe('Time of the order.'),
  subject: z.enum(orderSubjects),
  id: z.string().describe('Id of the lane, stream, receiver, transfer or transaction. Orders about the settings have the id `settings`.'),
  kind: z.string(),
  by: z
    .string()
    .describe(
      'The name of the token; `portage`: Portage itself; `unnamed`: a signal that came neither from the API nor from the command line.',
    ),
  reason: z.string(),
  facts: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .optional()
    .describe('Arguments: a nonce, a window, fees.'),
  times: z.number().optional().describe('How many times the same order came in a row. Absent if it came once.'),
})

/** Orders that do not have this form are left out, because anyone with access to Temporal can write orders. */
const keptSchema = orderSchema.omit({ subject: true, id: true }).extend({ at: z.number().min(Date.UTC(2020)).lt(Date.UTC(2100)) })

const schema = {
  summary: 'Orders with name and reason, newest first',
  description:
    'The route lists the orders that lanes, streams, settings, receivers of notifications and operators’ transactions still keep. Transfers are queried one by one, and only if `subject` names them. The archive has the whole log, including the orders that closed workflows kept.',
  querystring: z.strictObject({
    subject: z
      .union([z.enum(orderSubjects), z.array(z.enum(orderSubjects)).min(1)])
      .optional()
      .describe('Kinds of subjects. Absent: all kinds except transfers.'),
    by: textSchema(100).optional().describe('The name with which the orders were given.'),
    id: textSchema(1_000).optional().describe('The id of the subject.'),
    since: z.iso.datetime({ offset: true }).optional().describe(`Absent: the last ${usualDays} days.`),
    limit: limitSchema(1_000, 200).describe('Maximum number of orders.'),
  }),
  response: {
    200: z.object({
      asOf: z.string(),
      orders: z.array(orderSchema),
      more: z.boolean().describe('More than `limit` orders match.'),
      incomplete: z.array(z.string()).describe('Subjects whose older orders may have been dropped, or that did not answer.'),
    }),
  },
}

export function auditRoute(app: Api, { client, config }: ApiDeps): void {
  const shared = createSharedReads<KeptOrders[]>(keepMs, createReadGate({ atOnce: 1, waiting: 8 }))
  const read = (subjects: readonly (typeof orderSubjects)[number][], since: number) =>
    shared(`${[...new Set(subjects)].toSorted().join(',')} ${Math.floor(since / 60_000)}`, () =>
      readKeptOrders(client, orderedNames(config), since, subjects),
    )
  app.get('/v1/audit', { config: { access: 'read' }, schema }, async ({ query: { subject, by, id, since, limit: most } }) => {
    const from = since === undefined ? Date.now() - usualDays * 86_400_000 : Date.parse(since)
    const subjects = subject === undefined ? orderSubjects.filter((one) => one !== 'transfer') : [subject].flat()
    const kept = (await read(subjects, from)).filter((one) => id === undefined || one.id === id)
    const orders = kept
      .flatMap((one) => one.orders.map((given) => ({ ...keptSchema.safeParse(given).data, subject: one.subject, id: one.id })))
      .filter((one): one is typeof one & z.output<typeof keptSchema> => one.at !== undefined)
      .filter((one) => one.at >= from && (by === undefined || one.by === by))
      .toSorted((a, b) => b.at - a.at)
    return {
      asOf: new Date().toISOString(),
      orders: orders.slice(0, most).map(({ at, ...one }) => ({ ...one, at: new Date(at).toISOString() })),
      more: orders.length > most,
      incomplete: kept.filter((one) => one.unread || (one.isFull && (one.orders[0]?.at ?? 0) > from)).map((one) => one.id),
    }
  })
}
