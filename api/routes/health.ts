import { z } from 'zod'
import type { Api, ApiDeps } from '../deps.ts'
import { checkHealth, temporalProbe } from '../health.ts'

const report = z.object({
  ready: z.boolean(),
  checks: z.array(z.object({ name: z.string(), ok: z.boolean(), vital: z.boolean(), problem: z.string().optional() })),
})

/** `GET /health`: the process is alive. `GET /ready`: its vital dependencies work, else 503. Neither is rate limited. */
export function healthRoutes(app: Api, { client, health }: ApiDeps): void {
  const config = { rateLimit: false as const }
  app.get(
    '/health',
    { config, schema: { summary: 'Is the process alive?', response: { 200: z.object({ status: z.literal('ok') }) } } },
    () => ({
      status: 'ok' as const,
    }),
  )
  app.get(
    '/ready',
    { config, schema: { summary: 'Do its dependencies work?', response: { 200: report, 503: report } } },
    async (_, reply) => {
      const { ready, checks } = await checkHealth([temporalProbe(client), ...health])
      return reply.status(ready ? 200 : 503).send({ ready, checks: [...checks] })
    },
  )
}
