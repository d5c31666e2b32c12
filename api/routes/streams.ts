import { z } from 'zod'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { limits } from '../../domain/stream/gaps.ts'
import type { StreamState } from '../../domain/stream/stream.ts'
import { viewStream } from '../../domain/stream/reducer.ts'
import { aboutStream } from '../../operations/access/subjects.ts'
import { orderedBy } from '../access.ts'
import { type Api, type ApiDeps, finalizedHeight } from '../deps.ts'
import { errorSchema } from '../errors.ts'
import { orderStream, type StreamOrder } from '../../intake/streams/orders.ts'
import { listStreams, readStream, sourceOf, toReport } from '../../intake/streams/reports.ts'
import { nameOf } from '../../temporal/client/streams/streams.ts'
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
  'set-max-open': z.strictObject({
    maxOpen: z
      .number()
      .int()
      .min(1)
      .max(limits.open)
      .optional()
      .describe('Most transfers under way at a time; absent: as the config has it.'),
    ...author,
  }),
} as const

/** The order's word in the stream, where it is another one than that of the command. */
const kinds: Partial<Record<OrderName, StreamOrder['kind']>> = { 'set-max-open': 'setMaxOpen' }

type OrderName = keyof typeof orderBodies

/** Loose, so that the fields that a newer stream adds are shown, too. */
const reportSchema = z
  .looseObject({
    stream: z.string(),
    workflowId: z.string().optional().describe('Of its workflow in Temporal.'),
    problem: z.string().optional().describe('Why the stream did not answer; nothing else is known of it.'),
    cursor: z.number().optional().describe('Last block of the live scan.'),
    lag: z.number().optional().describe("Blocks from the cursor to the source's finalized head, where this process reads it."),
    headAt: z.string().optional().describe("When the source's head was made that the lag is counted from."),
    toldAt: z.number().optional().describe('When the stream was last told anything, ms since the epoch: what it knows is not newer.'),
    asOf: z.string().optional().describe('When it was read.'),
    completed_nonce_height: z.string().optional().describe('MIP-61: every number up to it is resolved.'),
    completed_block_height: z.number().optional().describe('MIP-61: no block up to it can hold an unresolved number.'),
    unproved: z
      .array(z.string())
      .readonly()
      .optional()
      .describe('What it cannot prove, since the config has no node of its source; absent: nothing.'),
  })
  .describe('The present state of a stream: docs/operate/streams.md.')

const shownSchema = z
  .looseObject({ asOf: z.string(), view: reportSchema })
  .describe('The whole state: open numbers, gaps, exceptions, blocks left of the backfill.')

const obeyedSchema = z.object({
  done: z.boolean().describe('False: the order changed nothing.'),
  warning: z.string().optional().describe('What the person should know who gave the order, though it was obeyed.'),
  view: reportSchema,
})

/** A stream in a path. */
export const streamParams = z.object({
  stream: z
    .string()
    .min(1)
    .max(300)
    .describe('`native-bridge:{source}:{target}`, `{bridge}:{source}:{emitter}`; chains by their names or by their numbers.'),
})

/** `GET /v1/streams`, `GET /v1/streams/{stream}`, and the operators' orders: `POST /v1/streams/{stream}/{order}`. */
export function streamRoutes(app: Api, deps: ApiDeps): void {
  const { client, network } = deps
  const heights = (chain: string) => finalizedHeight(network, chain)
  const read = { access: 'read' } as const
  app.addHook('preHandler', async ({ params }) => {
    const named = params as { stream?: string }
    if (named.stream !== undefined) named.stream = nameOf(client, named.stream)
  })
  const list = {
    summary: 'The numbered sources of transfers',
    response: { 200: z.object({ asOf: z.string(), streams: z.array(reportSchema) }), 503: errorSchema },
  }
  app.get('/v1/streams', { config: read, schema: list }, async () => ({
    asOf: new Date().toISOString(),
    streams: (await listStreams(client, heights)).map((row) => ({ ...row })),
  }))

  const show = {
    summary: 'All that a stream knows',
    params: streamParams,
    response: { 200: shownSchema, 404: errorSchema, 503: errorSchema },
  }
  app.get('/v1/streams/:stream', { config: read, schema: show }, async (request) => {
    const state: StreamState = await readStream(client, request.params.stream)
    const view = toReport(viewStream(state), heights)
    return { ...state, asOf: view.asOf, view: { ...view } }
  })

  for (const [name, summary] of Object.entries(summaries) as [OrderName, string][]) {
    const body = orderBodies[name]
    const schema = {
      summary,
      params: streamParams,
      body,
      response: { 200: obeyedSchema, 400: errorSchema, 404: errorSchema, 503: errorSchema },
    }
    app.post(`/v1/streams/:stream/${name}`, { config: { access: `stream ${name}` as const }, schema }, async (request) => {
      const { stream } = request.params
      const { reason, ...what } = request.body
      const order = { ...what, kind: kinds[name] ?? name, order: { by: orderedBy(request, aboutStream(stream)), reason } } as StreamOrder
      const { view, ...answer } = await orderStream(client, stream, order)
      return { ...answer, view: { ...toReport(view, heights) } }
    })
  }
  rereadRoute(app, deps)
}

/** The block that is gone back to is read by most of the source's nodes: a wrong one would make the stream read another chain. */
function rereadRoute(app: Api, { client, network }: ApiDeps): void {
  const schema = {
    summary: 'Go back to a block that is still in the chain, and read all above it again',
    params: streamParams,
    body: z.strictObject({
      block: height.describe('Below the cursor.'),
      hash: z
        .string()
        .regex(/^0x[0-9a-fA-F]{64}$/, 'must be the hash of a block')
        .optional()
        .describe('If it is given, it has to be that of the block.'),
      ...author,
    }),
    response: { 200: obeyedSchema, 404: errorSchema },
  }
  app.post('/v1/streams/:stream/reread', { config: { access: 'stream reread' }, schema }, async (request) => {
    const { stream } = request.params
    const { block, hash, reason } = request.body
    const given = { by: orderedBy(request, aboutStream(stream)), reason }
    await readStream(client, stream)
    const chain = network.chains.get(sourceOf(stream))
    const found = await chain?.block(block, 'agreed')
    if (!found)
      throw new RelayerError('INPUT_INVALID', {
        detail: chain ? 'block: the source has none at this height yet' : 'This process does not read the source of the stream.',
      })
    if (hash !== undefined && hash.toLowerCase() !== found.hash.toLowerCase()) {
      throw new RelayerError('INPUT_INVALID', { detail: `hash: block ${block} of the source is ${found.hash}` })
    }
    const { done, view } = await orderStream(client, stream, { kind: 'reread', block: { height: block, hash: found.hash }, order: given })
    return { done, view: { ...toReport(view, (name) => finalizedHeight(network, name)) } }
  })
}

const summaries: Readonly<Record<OrderName, string>> = {
  skip: 'Resolve a number without a delivery',
  unskip: 'Start a number again that was resolved',
  backfill: 'Read blocks of the source again',
  pause: 'Move the cursor no further',
  resume: 'End a pause',
  trust: 'Take a watermark from elsewhere: all up to a number is resolved',
  'set-max-open': 'Change how many transfers of the stream are under way at a time',
}
