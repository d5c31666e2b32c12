import { z } from 'zod'
import { checkChains, createTemporalCheck } from '../../operations/admin/checks.ts'
import type { SpyHealth } from '../../intake/spy/spy.ts'
import { redactText } from '../../observability/redact.ts'
import type { Api, ApiDeps } from '../deps.ts'

const report = z.object({
  ready: z.boolean(),
  checks: z.array(z.object({ name: z.string(), ok: z.boolean(), vital: z.boolean(), problem: z.string().optional() })),
})

/**
 * `/health` answers 200 while the process lives. `/ready` answers 200 while Temporal answers, otherwise 503. No rate
 * limit applies.
 */
export function healthRoutes(app: Api, { client, network, spies }: ApiDeps): void {
  const config = { rateLimit: false, access: 'open' } as const
  const alive = { summary: 'Liveness of the process', response: { 200: z.object({ status: z.literal('ok') }) } }
  app.get('/health', { config, schema: alive }, () => ({ status: 'ok' as const }))

  const askTemporal = createTemporalCheck(client)
  const works = { summary: 'Readiness: the state of its dependencies', response: { 200: report, 503: report } }
  app.get('/ready', { config, schema: works }, async (_, reply) => {
    const temporal = await askTemporal()
    const { ok: ready } = temporal
    // No chain makes `/ready` fail, because an unreachable chain delays only its own transfers.
    const chains = checkChains(network.chains.values()).map((check) => ({ ...check, vital: false }))
    return reply.status(ready ? 200 : 503).send({ ready, checks: [temporal, ...chains, ...(spies?.() ?? []).map(spyCheck)] })
  })
}

/** No spy makes `/ready` fail, because streams fetch missed messages from guardian APIs. */
function spyCheck({ address, connected, paused, problem, kept }: SpyHealth) {
  const why = paused ? `paused: ${kept} messages wait` : connected ? undefined : (problem ?? 'not connected yet')
  return { name: `spy ${address}`, ok: why === undefined, vital: false, problem: why === undefined ? undefined : redactText(why) }
}
