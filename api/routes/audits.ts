import { z } from 'zod'
import { auditedChains } from '../../config/chains.ts'
import { type AuditRow, listAudits, startAudit } from '../../temporal/client/streams/audits.ts'
import { orderedBy } from '../access.ts'
import type { Api, ApiDeps } from '../deps.ts'
import { orderOf, orders } from '../../operations/orders/orders.ts'
import { createReadGate, createSharedReads } from '../read-gate.ts'
import { reasonSchema } from './orders.ts'
import { limitSchema, textSchema } from '../../operations/orders/values.ts'

const keepMs = 2_000

const { fields } = orders['audit run']

const startedSchema = z.object({ chain: z.string(), workflowId: z.string() })
const reportSchema = z
  .looseObject({ checked: z.number(), undoneCount: z.number() })
  .describe('The findings. Each list has at most the first 200 ids.')
const rowSchema = startedSchema.extend({
  execution: z.string(),
  startedAt: z.string(),
  report: reportSchema.optional().describe('Absent if the audit is running or has failed.'),
})

export function auditsRoutes(app: Api, { client, config }: ApiDeps): void {
  const read = createSharedReads<AuditRow[]>(keepMs, createReadGate({ atOnce: 1, waiting: 8 }))
  const list = {
    summary: 'The results of the latest audits of delivered transfers',
    querystring: z.strictObject({
      chain: textSchema(100).optional().describe('Only this target chain.'),
      limit: limitSchema(20, 5).describe('Maximum number of audits of each chain.'),
    }),
    response: { 200: z.object({ audits: z.array(rowSchema) }) },
  }
  app.get('/v1/audits', { config: { access: 'read' }, schema: list }, async ({ query }) => {
    const chains = auditedChains(config, query.chain)
    const audits = await read(`${chains.join(',')} ${query.limit}`, () => listAudits(client, chains, query.limit))
    return { audits: audits.map(({ report, ...row }) => ({ ...row, ...(report && { report: { ...report } }) })) }
  })

  const run = {
    summary: orderOf('audit run').summary,
    description:
      'GET /v1/audits has the result. Each chain has at most one ordered audit at a time. While this audit runs, further requests get its id.',
    body: z.strictObject({
      chain: fields.chain.schema.describe('Only this target chain.'),
      hours: fields.hours.schema.describe('Audit the deliveries of the last N hours. Absent: `audit.hours` in the config.'),
      reason: reasonSchema.optional(),
    }),
    response: { 202: z.object({ audits: z.array(startedSchema) }) },
  }
  app.post('/v1/audits', { config: { access: 'audit run' }, schema: run }, async (request, reply) => {
    const chains = auditedChains(config, request.body.chain)
    const order = { by: orderedBy(request, { chains }), reason: request.body.reason }
    const back = request.body.hours ?? config.audit.hours
    const audits = chains.map(async (one) => ({
      chain: one,
      workflowId: await startAudit(client, { chain: one, hours: back, graceMs: 0 }, order),
    }))
    return reply.status(202).send({ audits: await Promise.all(audits) })
  })
}
