import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { SpyHealth } from '../../intake/spy.ts'
import { redactText } from '../../observability/redact.ts'
import type { TemporalClient } from '../../temporal/client/client.ts'
import { checkNamespace } from '../../temporal/client/probe.ts'
import type { Api, ApiDeps } from '../deps.ts'

/** A slower answer of Temporal is a failure, ms: load balancers do not wait longer either. */
const timeoutMs = 3_000

const report = z.object({
  ready: z.boolean(),
  checks: z.array(z.object({ name: z.string(), ok: z.boolean(), vital: z.boolean(), problem: z.string().optional() })),
})

/**
 * `GET /health`: the process is alive. `GET /ready`: Temporal answers, else 503; the chains are reported, but one that cannot be reached holds up only its own
 * transfers; so are the guardian spies of this process. Neither is rate limited.
 */
export function healthRoutes(app: Api, { client, network, spies }: ApiDeps): void {
  const config = { rateLimit: false, access: 'open' } as const
  const alive = { summary: 'Is the process alive?', response: { 200: z.object({ status: z.literal('ok') }) } }
  app.get('/health', { config, schema: alive }, () => ({ status: 'ok' as const }))

  const works = { summary: 'Do its dependencies work?', response: { 200: report, 503: report } }
  app.get('/ready', { config, schema: works }, async (_, reply) => {
    const problem = await temporalProblem(client)
    const ready = problem === undefined
    const chains = [...network.chains.values()].map(({ name, heads }) => {
      const ok = heads.current !== undefined
      return { name: `chain ${name}`, ok, vital: false, problem: ok ? undefined : 'no block was seen yet' }
    })
    const temporal = { name: 'temporal', ok: ready, vital: true, problem }
    return reply.status(ready ? 200 : 503).send({ ready, checks: [temporal, ...chains, ...(spies?.() ?? []).map(spyCheck)] })
  })
}

/** Streams fetch what a spy does not tell, where guardian APIs are configured: it is not vital. */
function spyCheck({ address, connected, paused, problem, kept }: SpyHealth) {
  const why = paused ? `not read: ${kept} of its messages wait` : connected ? undefined : (problem ?? 'not connected yet')
  return { name: `spy ${address}`, ok: why === undefined, vital: false, problem: why === undefined ? undefined : redactText(why) }
}

/** Why Temporal does not answer; undefined: it does. */
async function temporalProblem(client: TemporalClient): Promise<string | undefined> {
  const late = async () => {
    await delay(timeoutMs, undefined, { ref: false })
    throw new Error(`no answer within ${timeoutMs} ms`)
  }
  try {
    await Promise.race([checkNamespace(client, timeoutMs), late()])
    return undefined
  } catch (error) {
    return redactText(error instanceof Error ? error.message : String(error))
  }
}
