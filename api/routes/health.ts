import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { redactText } from '../../observability/redact.ts'
import { checkNamespace } from '../../temporal/client/probe.ts'
import type { Api, ApiDeps, HealthProbe } from '../deps.ts'

/** A probe that takes longer has failed, ms: load balancers do not wait longer either. */
const probeTimeoutMs = 3_000

const report = z.object({
  ready: z.boolean(),
  checks: z.array(z.object({ name: z.string(), ok: z.boolean(), vital: z.boolean(), problem: z.string().optional() })),
})

/** `GET /health`: the process is alive. `GET /ready`: its vital dependencies work, else 503. Neither is rate limited. */
export function healthRoutes(app: Api, { client, health }: ApiDeps): void {
  const config = { rateLimit: false as const }
  const temporal = { name: 'temporal', check: () => checkNamespace(client, probeTimeoutMs) }
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
      const { ready, checks } = await checkHealth([temporal, ...health])
      return reply.status(ready ? 200 : 503).send({ ready, checks: [...checks] })
    },
  )
}

/** Runs all probes at once. Never throws. */
async function checkHealth(probes: readonly HealthProbe[]) {
  const checks = await Promise.all(
    probes.map(async ({ name, check, vital = true }) => {
      try {
        await Promise.race([check(), late()])
        return { name, ok: true, vital }
      } catch (error) {
        return { name, ok: false, vital, problem: redactText(error instanceof Error ? error.message : String(error)) }
      }
    }),
  )
  return { ready: checks.every(({ ok, vital }) => ok || !vital), checks }
}

/** Rejects after the time-out. */
async function late(): Promise<never> {
  await delay(probeTimeoutMs, undefined, { ref: false })
  throw new Error(`no answer within ${probeTimeoutMs} ms`)
}
