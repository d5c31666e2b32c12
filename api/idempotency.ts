import { problemOf } from '../observability/severity.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { claimKey } from '../temporal/client/calls/idempotency-key.ts'
import type { ApiDeps } from './deps.ts'

/** Source: draft-ietf-httpapi-idempotency-key-header */
export const idempotencyHeaders = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/, 'must be 1 to 200 visible characters')
    .optional()
    .describe(
      'A repeated request with the same key and body gets the same answer. A request with the same key and another body is refused. Portage keeps the answer for as long as Temporal keeps closed workflows.',
    ),
})

interface Answer<Body> {
  readonly status: number
  readonly body: Body
}

/**
 * Runs `work` once per idempotency key, and repeats its answer. After an error, `work` runs again. Without a key,
 * `work` always runs. Throws IDEMPOTENCY_KEY_*, TEMPORAL_UNAVAILABLE and the errors of `work`.
 */
export async function once<Body>(
  { client, logger }: Pick<ApiDeps, 'client' | 'logger'>,
  request: FastifyRequest,
  reply: FastifyReply,
  work: () => Promise<Answer<Body>>,
): Promise<Answer<Body>> {
  const key = request.headers['idempotency-key']
  if (typeof key !== 'string') return work()
  const { method, routeOptions, principal, body, query, params } = request
  const claim = await claimKey(client, {
    key: [principal?.name ?? '', method, routeOptions.url ?? '', key],
    request: { params, query, body },
  })
  if (claim.kind === 'answered') {
    void reply.header('idempotency-replayed', 'true')
    return { status: claim.status, body: claim.body as Body }
  }
  // The request succeeds even if its answer cannot be stored: a repeated request finds what the first one started.
  const keep = (answer: Parameters<typeof claim.answer>[0]) =>
    claim.answer(answer).catch((error: unknown) => {
      logger.warn('an answer could not be kept for its idempotency key', { ...problemOf(error) })
    })
  try {
    const answer = await work()
    await keep({ kind: 'answered', ...answer })
    return answer
  } catch (error) {
    await keep({ kind: 'released' })
    throw error
  }
}
