import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { viewStream } from '../../domain/stream/reducer.ts'
import type { StreamAudit } from '../../intake/streams/scanned/audit.ts'
import { streamReportSchema } from '../../intake/streams/report-schema.ts'
import { listStreams, readStream, toReport } from '../../intake/streams/reports.ts'
import { aboutStream } from '../../operations/access/subjects.ts'
import { checkpointSchema, checkpointStoreOf } from '../../operations/orders/stream.ts'
import { nameOf } from '../../temporal/client/streams/streams.ts'
import { orderedBy } from '../access.ts'
import { type Api, type ApiDeps } from '../deps.ts'
import { errorSchema } from '../errors.ts'
import { createReadGate, createSharedReads } from '../read-gate.ts'
import { orderTexts, subjectParams } from './orders.ts'

/** Maximum wait for an audit (ms), because proxies close a connection after a minute of silence. */
const waitMs = 50_000

const params = subjectParams.stream
const access = { config: { access: 'read' } } as const

const shownSchema = z
  .looseObject({ asOf: z.string(), view: streamReportSchema })
  .meta({ id: 'StreamState', description: 'The whole state: open numbers, gaps, exceptions, blocks left of the backfill.' })

const count = z.number().describe('A count of numbers.')
const auditSchema = z
  .object({
    stream: z.string(),
    running: z
      .literal(true)
      .optional()
      .describe('The audit continues, and a repeated request waits for its end. Absent if the audit has ended.'),
    upTo: z.string().optional().describe("The source's own count. Absent if the source has none yet, or does not answer."),
    height: z.number().optional().describe('The final block at which the count was read.'),
    gaps: count.optional(),
    completed: count.optional().describe('Open numbers whose transfers are delivered.'),
    started: count.optional().describe('Numbers whose transfers were started, or started again.'),
    closed: count.optional().describe('Open numbers whose transfers ended without a delivery.'),
    undone: count.optional().describe('Deliveries that were undone. Their transfers are started again.'),
  })
  .meta({ id: 'StreamAudit' })

export function streamRoutes(app: Api, deps: ApiDeps): void {
  const { client, config, network } = deps
  const heights = (chain: string) => network.chains.get(chain)?.heads.current
  app.addHook('preHandler', async ({ params: given }) => {
    const named = given as { stream?: string }
    if (named.stream !== undefined) named.stream = nameOf(client, named.stream)
  })
  const list = {
    summary: 'The numbered sources of transfers',
    response: { 200: z.object({ asOf: z.string(), streams: z.array(streamReportSchema) }) },
  }
  app.get('/v1/streams', { ...access, schema: list }, async () => ({
    asOf: new Date().toISOString(),
    streams: (await listStreams(client, heights, config.streams.auditMinutes)).map((row) => ({ ...row })),
  }))

  const show = { summary: 'The whole state of a stream', params, response: { 200: shownSchema, 404: errorSchema } }
  app.get('/v1/streams/:stream', { ...access, schema: show }, async (request) => {
    const state = await readStream(client, request.params.stream)
    const view = toReport(viewStream(state), heights, config.streams.auditMinutes)
    return { ...state, asOf: view.asOf, view: { ...view } }
  })

  const gate = createReadGate({ atOnce: 2, waiting: 8 })
  const checkpoint = {
    summary: 'The checkpoint of a stream in the store that this process uses, outside Temporal',
    params,
    response: { 200: z.object({ stream: z.string(), kept: checkpointSchema.optional().describe('Absent: none yet.') }), 404: errorSchema },
  }
  app.get('/v1/streams/:stream/checkpoint', { ...access, schema: checkpoint }, async ({ params: { stream } }) => {
    const store = checkpointStoreOf(config, client.streamNames)
    // `readStream` throws for an unknown stream, so that a request cannot choose the name of a file or object freely.
    await readStream(client, stream)
    const kept = await gate(() => store.read(stream))
    return { stream, ...(kept && { kept: { ...kept } }) }
  })
  auditRoute(app, deps)
}

/** One audit runs at a time. Requests for its stream share the result. Other requests are refused (API_BUSY). */
function auditRoute(app: Api, { client, logger, auditStream }: ApiDeps): void {
  const audits = createSharedReads<StreamAudit>(0, createReadGate({ atOnce: 1, waiting: 0 }))
  const stopping = new AbortController()
  app.addHook('preClose', async () => stopping.abort())
  const { summary, description } = orderTexts('stream audit')
  const schema = {
    summary,
    description: `${description} The request waits at most ${waitMs / 1_000} s for the result. A process audits one stream at a time, and meanwhile refuses audits of other streams.`,
    params,
    response: { 200: auditSchema, 202: auditSchema, 404: errorSchema },
  }
  app.post('/v1/streams/:stream/audit', { config: { access: 'stream audit' }, schema }, async (request, reply) => {
    const { stream } = request.params
    const by = orderedBy(request, aboutStream(stream))
    await readStream(client, stream)
    const ended = audits(stream, () => {
      logger.info('a stream is audited by order', { stream, by })
      return auditStream(stream, stopping.signal)
    })
    // Without this handler, an audit that fails after the wait would be an unhandled rejection.
    ended.catch(() => {})
    const found = await Promise.race([ended, delay(waitMs, undefined, { ref: false })])
    return found ? { stream, ...found } : reply.status(202).send({ stream, running: true })
  })
}
