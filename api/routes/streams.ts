import { z } from 'zod'
import type { StreamState } from '../../domain/stream/stream.ts'
import { viewStream } from '../../domain/stream/reducer.ts'
import type { Api, ApiDeps } from '../deps.ts'
import { errorSchema } from '../errors.ts'
import { obeyedSchema, orderBodies, reportSchema, shownSchema, toOrder } from '../stream-schema.ts'
import type { OrderName } from '../stream-schema.ts'
import { orderStream } from '../../streams/orders.ts'
import { listStreams, readStream, toReport } from '../../streams/reports.ts'

const params = z.object({
  stream: z.string().min(1).max(300).describe('`native-bridge:{source}:{target}`, `{bridge}:{source}:{emitter}`.'),
})

/** `GET /v1/streams`, `GET /v1/streams/{stream}`, and the operators' orders: `POST /v1/streams/{stream}/{order}`. */
export function streamRoutes(app: Api, deps: ApiDeps): void {
  const { client, finalizedHeight: heights = () => undefined } = deps
  const list = {
    summary: 'The numbered sources of transfers',
    response: { 200: z.object({ streams: z.array(reportSchema) }), 503: errorSchema },
  }
  app.get('/v1/streams', { schema: list }, async () => ({ streams: (await listStreams(client, heights)).map((row) => ({ ...row })) }))

  const show = { summary: 'All that a stream knows', params, response: { 200: shownSchema, 404: errorSchema, 503: errorSchema } }
  app.get('/v1/streams/:stream', { schema: show }, async (request) => {
    const state: StreamState = await readStream(client, request.params.stream)
    return { ...state, view: { ...toReport(viewStream(state), heights) } }
  })

  for (const [name, summary] of Object.entries(summaries) as [OrderName, string][]) {
    const body = orderBodies[name]
    const schema = { summary, params, body, response: { 200: obeyedSchema, 400: errorSchema, 404: errorSchema, 503: errorSchema } }
    app.post(`/v1/streams/:stream/${name}`, { schema }, async (request) => {
      const { done, view } = await orderStream(client, request.params.stream, toOrder(name, request.body))
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
