import { streamNames } from '../../bridges/registry.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { aboutStream } from '../../operations/access/subjects.ts'
import { checkpointPlaceOf } from '../../config/data-folder.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { StreamAudit } from '../../intake/streams/scanned/audit-transfers.ts'
import { createCheckpointStore, writeCheckpoint } from '../../intake/streams/checkpoints.ts'
import { readStream } from '../../intake/streams/reports.ts'
import { orderedBy } from '../access.ts'
import type { Api, ApiDeps } from '../deps.ts'
import { errorSchema } from '../errors.ts'
import { createReadGate } from '../read-gate.ts'
import { streamParams as params } from './streams.ts'

/** Longest wait for an audit that goes on, ms: proxies end what is silent for a minute. */
const waitMs = 50_000

const count = z.number().describe('Of numbers.')
const auditSchema = z.object({
  stream: z.string(),
  running: z.literal(true).optional().describe('It goes on: the same request again waits for its end. Absent: it has ended.'),
  upTo: z.string().optional().describe("The source's own count; absent: it has none yet, or it could not be read."),
  height: z.number().optional().describe('The final block at which the count was read.'),
  gaps: count.optional(),
  completed: count.optional().describe('Open ones that are delivered.'),
  started: count.optional().describe('Started, or started again.'),
  closed: count.optional().describe('Open ones that ended without a delivery.'),
  undone: count.optional().describe('Delivered before, and not any more: started again.'),
})

const checkpointSchema = z.looseObject({ stream: z.string() }).describe('docs/operate/streams.md.')

/** `POST /v1/streams/{stream}/audit`, `POST` and `GET /v1/streams/{stream}/checkpoint`: what the intake does by itself, now. */
export function streamUpkeepRoutes(app: Api, deps: ApiDeps): void {
  auditRoute(app, deps)
  checkpointRoutes(app, deps)
}

/** One at a time in a process, since it reads tables and logs; who asks for the same one meanwhile waits for it. */
function auditRoute(app: Api, { client, logger, auditStream }: ApiDeps): void {
  const gate = createReadGate({ atOnce: 1, waiting: 0 })
  const running = new Map<string, Promise<StreamAudit>>()
  const stopping = new AbortController()
  app.addHook('preClose', async () => stopping.abort())
  const audit = (stream: string, by: string): Promise<StreamAudit> => {
    const known = running.get(stream)
    if (known) return known
    const begun = gate(() => {
      logger.info('a stream is audited by order', { stream, by })
      return auditStream(stream, stopping.signal)
    }).finally(() => running.delete(stream))
    running.set(stream, begun)
    return begun
  }
  const schema = {
    summary: "Hold a stream against its source's own count and table, and its open transfers against their workflows, now",
    description: `Waits for it, ${waitMs / 1_000} s at most. One at a time in a process: another one is refused meanwhile.`,
    params,
    response: { 200: auditSchema, 202: auditSchema, 404: errorSchema },
  }
  app.post('/v1/streams/:stream/audit', { config: { access: 'stream audit' }, schema }, async (request, reply) => {
    const { stream } = request.params
    const by = orderedBy(request, aboutStream(stream))
    await readStream(client, stream)
    const ended = audit(stream, by)
    // Who no longer waits for it must not end the process with its failure.
    ended.catch(() => {})
    const found = await Promise.race([ended, delay(waitMs, undefined, { ref: false })])
    return found ? { stream, ...found } : reply.status(202).send({ stream, running: true })
  })
}

function checkpointRoutes(app: Api, { client, config, logger }: ApiDeps): void {
  const place = checkpointPlaceOf(config)
  const store = place && createCheckpointStore(place, streamNames(config))
  const gate = createReadGate({ atOnce: 2, waiting: 8 })
  const none = () => new RelayerError('INPUT_INVALID', { detail: 'streams.checkpoints says none: no checkpoints are kept.' })

  const show = {
    summary: 'What is kept of a stream outside Temporal, as this process reads it',
    params,
    response: { 200: z.object({ stream: z.string(), kept: checkpointSchema.optional().describe('Absent: none yet.') }), 404: errorSchema },
  }
  app.get('/v1/streams/:stream/checkpoint', { config: { access: 'read' }, schema: show }, async ({ params: { stream } }) => {
    if (!store) throw none()
    // Only of a stream that is there: the name becomes that of a file, or an object.
    await readStream(client, stream)
    const kept = await gate(() => store.read(stream))
    return { stream, ...(kept && { kept: { ...kept } }) }
  })

  const write = {
    summary: 'Write the checkpoint of a stream now, to where this process keeps them',
    params,
    response: { 200: z.object({ stream: z.string(), written: checkpointSchema }), 400: errorSchema, 404: errorSchema },
  }
  app.post('/v1/streams/:stream/checkpoint', { config: { access: 'stream checkpoint write' }, schema: write }, async (request) => {
    const { stream } = request.params
    const by = orderedBy(request, aboutStream(stream))
    if (!store) throw none()
    logger.info('the checkpoint of a stream is written by order', { stream, by })
    return { stream, written: { ...(await gate(() => writeCheckpoint(client, store, stream))) } }
  })
}
