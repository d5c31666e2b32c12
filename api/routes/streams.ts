import { z } from 'zod'
import type { StreamState } from '../../domain/stream/stream.ts'
import { viewStream } from '../../domain/stream/reducer.ts'
import { aboutStream } from '../../access/subjects.ts'
import { orderedBy } from '../access.ts'
import { type Api, type ApiDeps, finalizedHeight } from '../deps.ts'
import { errorSchema } from '../errors.ts'
import { orderStream, type StreamOrder } from '../../streams/orders.ts'
import { listStreams, readStream, toReport } from '../../streams/reports.ts'
import { sequenceSchema } from './submit-transfer.ts'

const author = {
  reason: z.string().trim().min(1).max(500).describe('The reason; the stream records its first 60 bytes.'),
}
const height = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)
const number = sequenceSchema

/** The request bodies of the orders. */
const orderBodies = {
  skip: z.strictObject({ number, ...author }),
  unskip: z.strictObject({ number, ...author }),
  backfill: z
    .strictObject({ from: height.describe('First block.'), to: height.describe('Last block, at most the cursor.'), ...author })
    .refine(({ from, to }) => from <= to, { path: ['to'], message: 'must not be below from' }),
  pause: z.strictObject(author),
  resume: z.strictObject(author),
  trust: z.strictObject({
    number: number.describe('All numbers up to it are resolved.'),
    height: height.optional().describe('No block up to it has to be read.'),
    ...author,
  }),
} as const

type OrderName = keyof typeof orderBodies

/** Loose, so that the fields that a newer stream adds are shown, too. */
const reportSchema = z
  .looseObject({
    stream: z.string(),
    problem: z.string().optional().describe('Why the stream did not answer; nothing else is known of it.'),
    cursor: z.number().optional().describe('Last block of the live scan.'),
    lag: z.number().optional().describe("Blocks from the cursor to the source's finalized head, where this process reads it."),
    completed_nonce_height: z.string().optional().describe('MIP-61: every number up to it is resolved.'),
    completed_block_height: z.number().optional().describe('MIP-61: no block up to it can hold an unresolved number.'),
  })
  .describe('The present state of a stream: docs/streams.md.')

const shownSchema = z
  .looseObject({ view: reportSchema })
  .describe('The whole state: open numbers, gaps, exceptions, blocks left of the backfill.')

const obeyedSchema = z.object({
  done: z.boolean().describe('False: the order changed nothing.'),
  view: reportSchema,
})

const params = z.object({
  stream: z.string().min(1).max(300).describe('`native-bridge:{source}:{target}`, `{bridge}:{source}:{emitter}`.'),
})

/** `GET /v1/streams`, `GET /v1/streams/{stream}`, and the operators' orders: `POST /v1/streams/{stream}/{order}`. */
export function streamRoutes(app: Api, { client, network }: ApiDeps): void {
  const heights = (chain: string) => finalizedHeight(network, chain)
  const read = { access: 'read' } as const
  const list = {
    summary: 'The numbered sources of transfers',
    response: { 200: z.object({ streams: z.array(reportSchema) }), 503: errorSchema },
  }
  app.get('/v1/streams', { config: read, schema: list }, async () => ({
    streams: (await listStreams(client, heights)).map((row) => ({ ...row })),
  }))

  const show = { summary: 'All that a stream knows', params, response: { 200: shownSchema, 404: errorSchema, 503: errorSchema } }
  app.get('/v1/streams/:stream', { config: read, schema: show }, async (request) => {
    const state: StreamState = await readStream(client, request.params.stream)
    return { ...state, view: { ...toReport(viewStream(state), heights) } }
  })

  for (const [name, summary] of Object.entries(summaries) as [OrderName, string][]) {
    const body = orderBodies[name]
    const schema = { summary, params, body, response: { 200: obeyedSchema, 400: errorSchema, 404: errorSchema, 503: errorSchema } }
    app.post(`/v1/streams/:stream/${name}`, { config: { access: `stream ${name}` as const }, schema }, async (request) => {
      const { stream } = request.params
      const { reason, ...what } = request.body
      const order = { ...what, kind: name, order: { by: orderedBy(request, aboutStream(stream)), reason } } as StreamOrder
      const { done, view } = await orderStream(client, stream, order)
      return { done, view: { ...toReport(view, heights) } }
    })
  }
}

const summaries: Readonly<Record<OrderName, string>> = {
  skip: 'Resolve a number without a delivery',
  unskip: 'Start a number again that was resolved',
  backfill: 'Read blocks of the source again',
  pause: 'Move the cursor no further',
  resume: 'End a pause',
  trust: 'Take a watermark from elsewhere: all up to a number is resolved',
}
