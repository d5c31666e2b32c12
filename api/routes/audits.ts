import { z } from 'zod'
import { auditedChains } from '../../config/chains.ts'
import { type AuditRow, listAudits, startAudit } from '../../temporal/client/streams/audits.ts'
import { orderedBy } from '../access.ts'
import type { Api, ApiDeps } from '../deps.ts'
import { errorSchema } from '../errors.ts'
import { createReadGate, createSharedReads } from '../read-gate.ts'

/** The same answer for all who ask within that time, ms: of each audit its result is asked. */
const keepMs = 2_000

const chain = z.string().min(1).max(100)
const hours = z.number().positive().max(8_760)

const startedSchema = z.object({ chain: z.string(), workflowId: z.string() })
const reportSchema = z.looseObject({ checked: z.number(), undoneCount: z.number() }).describe('Its findings; lists hold the first 200 ids.')
const rowSchema = z.object({
  ...{ chain: z.string(), workflowId: z.string(), execution: z.string(), startedAt: z.string() },
  report: reportSchema.optional().describe('Absent: it runs, or has failed.'),
})

/** `GET /v1/audits` and `POST /v1/audits`: was what is delivered undone by a deep reorg? What closed undone? Both start again. */
export function auditsRoutes(app: Api, { client, config }: ApiDeps): void {
  const read = createSharedReads<AuditRow[]>(keepMs, createReadGate({ atOnce: 1, waiting: 8 }))
  const list = {
    summary: 'What the latest audits of delivered transfers found',
    querystring: z.strictObject({
      chain: chain.optional().describe('Only this target chain.'),
      limit: z.coerce.number().int().min(1).max(20).default(5).describe('Most audits of a chain.'),
    }),
    response: { 200: z.object({ audits: z.array(rowSchema) }), 400: errorSchema },
  }
  app.get('/v1/audits', { config: { access: 'read' }, schema: list }, async ({ query }) => {
    const chains = auditedChains(config, query.chain)
    const audits = await read(`${chains.join(',')} ${query.limit}`, () => listAudits(client, chains, query.limit))
    return { audits: audits.map(({ report, ...row }) => ({ ...row, ...(report && { report: { ...report } }) })) }
  })

  const run = {
    summary: 'Audit now, beside the schedule; GET /v1/audits tells what it found',
    description: 'One at a time by hand for each chain: while it runs, the same one is named again.',
    body: z.strictObject({
      chain: chain.optional().describe('Only this target chain.'),
      hours: hours.optional().describe('How far back it looks; absent: audit.hours of the config.'),
      reason: z.string().trim().min(1).max(500).optional().describe('Why; the run of the audit keeps it with the name of the token.'),
    }),
    response: { 202: z.object({ audits: z.array(startedSchema) }), 400: errorSchema },
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
