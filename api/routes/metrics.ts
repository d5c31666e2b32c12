import type { Api, ApiDeps } from '../deps.ts'
import { createTransferCounts } from '../transfer-counts.ts'

/** `GET /metrics`: Prometheus text. Not rate limited. */
export function metricsRoute(app: Api, { client, metrics }: ApiDeps): void {
  const countTransfers = createTransferCounts(client, metrics)
  const schema = { summary: 'Metrics in the Prometheus text format', produces: ['text/plain'] }
  app.get('/metrics', { config: { rateLimit: false }, schema }, async (_, reply) => {
    await countTransfers()
    return reply.type('text/plain; version=0.0.4; charset=utf-8').send(metrics.render())
  })
}
