import type { Api, ApiDeps } from '../deps.ts'
import { createStreamMetrics } from '../scraped-metrics.ts'
import { createTransferCounts } from '../scraped-metrics.ts'

/** `GET /metrics`: Prometheus text. Not rate limited. */
export function metricsRoute(app: Api, { client, metrics, feedsStreams = false, finalizedHeight = () => undefined }: ApiDeps): void {
  const countTransfers = createTransferCounts(client, metrics)
  const askStreams = feedsStreams ? async () => {} : createStreamMetrics(client, metrics, finalizedHeight)
  const schema = { summary: 'Metrics in the Prometheus text format', produces: ['text/plain'] }
  app.get('/metrics', { config: { rateLimit: false }, schema }, async (_, reply) => {
    await Promise.all([countTransfers(), askStreams()])
    return reply.type('text/plain; version=0.0.4; charset=utf-8').send(await metrics.render())
  })
}
