import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { SpyHealth } from '../../intake/spy.ts'
import { RelayerError } from '../../domain/errors.ts'
import { redactText } from '../../observability/redact.ts'
import type { TemporalClient } from '../../temporal/client/client.ts'
import { isNamespaceMissing, refusalCode } from '../../temporal/client/errors.ts'
import { checkNamespace } from '../../temporal/client/probe.ts'
import type { Api, ApiDeps } from '../deps.ts'

/** A slower answer of Temporal is a failure, ms: load balancers do not wait longer either. */
const timeoutMs = 3_000
/** Temporal's answer is given again for so long, ms: anybody may ask, as often as he likes. */
const keepMs = 1_000

const report = z.object({
  ready: z.boolean(),
  checks: z.array(z.object({ name: z.string(), ok: z.boolean(), vital: z.boolean(), problem: z.string().optional() })),
})

/**
 * `GET /health`: the process is alive. `GET /ready`: Temporal answers, else 503; the chains are reported, but one that cannot be reached holds up only its own
 * transfers; so are the guardian spies of this process. Neither is rate limited; Temporal is asked once a second at most.
 */
export function healthRoutes(app: Api, { client, network, spies }: ApiDeps): void {
  const config = { rateLimit: false, access: 'open' } as const
  const alive = { summary: 'Is the process alive?', response: { 200: z.object({ status: z.literal('ok') }) } }
  app.get('/health', { config, schema: alive }, () => ({ status: 'ok' as const }))

  const askTemporal = keptFor(keepMs, () => temporalProblem(client))
  const works = { summary: 'Do its dependencies work?', response: { 200: report, 503: report } }
  app.get('/ready', { config, schema: works }, async (_, reply) => {
    const problem = await askTemporal()
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

/** Asks once for all who want to know meanwhile, and for those who come within `ms` of the answer. */
function keptFor<Answer>(ms: number, ask: () => Promise<Answer>): () => Promise<Answer> {
  let asked: Promise<Answer> | undefined
  const forget = () => (asked = undefined)
  return () => (asked ??= ask().finally(() => setTimeout(forget, ms).unref()))
}

/** Why Temporal does not answer, without its address and namespace, which are not for everybody; undefined: it does. */
async function temporalProblem(client: TemporalClient): Promise<string | undefined> {
  const late = async () => {
    await delay(timeoutMs, undefined, { ref: false })
    throw new Error(`no answer within ${timeoutMs} ms`)
  }
  try {
    await Promise.race([checkNamespace(client, timeoutMs), late()])
    return undefined
  } catch (error) {
    const code = isNamespaceMissing(error) ? 'TEMPORAL_NAMESPACE' : (refusalCode(error) ?? 'TEMPORAL_UNAVAILABLE')
    return new RelayerError(code).message
  }
}
