import type { Api, ApiDeps } from '../deps.ts'

/** `GET /metrics`: Prometheus text. */
export function metricsRoute(app: Api, { metrics }: ApiDeps): void {
  app.get(
    '/metrics',
    { config: { rateLimit: false }, schema: { summary: 'Metrics in the Prometheus text format', produces: ['text/plain'] } },
    (_, reply) => reply.type('text/plain; version=0.0.4; charset=utf-8').send(metrics.render()),
  )
}
