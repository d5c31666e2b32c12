import type { FastifyError } from 'fastify'
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { type ErrorCode, RelayerError, toRelayerError } from '../domain/errors.ts'
import { redactText } from '../observability/redact.ts'

/** The body of every refusal. */
export const errorSchema = z
  .object({
    error: z.object({
      code: z.string().describe('A stable code: docs/errors.md.'),
      message: z.string(),
      remedy: z.string(),
      facts: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    }),
  })
  .describe('Why the request was refused, and what to do.')

/** Codes with a status of their own. Every other retriable code is 503, and every other code is 422: the message was understood, and refused. */
const statusByCode: Partial<Record<ErrorCode, number>> = {
  INPUT_INVALID: 400,
  MESSAGE_ENCODING: 400,
  TRANSFER_NOT_FOUND: 404,
  LANE_NOT_FOUND: 404,
  STREAM_NOT_FOUND: 404,
  RATE_LIMITED: 429,
  ACCESS_TOKEN_MISSING: 401,
  ACCESS_TOKEN_INVALID: 401,
  ACCESS_TOKEN_EXPIRED: 401,
  ACCESS_TOKEN_REVOKED: 401,
  ACCESS_LEVEL: 403,
  ACCESS_SCOPE: 403,
  ACCESS_HOST: 421,
  ACCESS_KEYS: 503,
  INTERNAL: 500,
}

/** Seconds after which a retriable refusal is worth another try: about a block of most chains. */
const retryAfterSeconds = 10

/**
 * The answer to a request that failed: status, code, text and remedy, without secrets. `retryAfter`: seconds, where another try may help. `challenge`: of
 * the header www-authenticate.
 */
export function toErrorAnswer(thrown: unknown) {
  const error = toRelayerError(thrown instanceof Error ? fromFastify(thrown) : thrown)
  const status = statusByCode[error.code] ?? (error.retriable ? 503 : 422)
  const facts = Object.entries(error.facts).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, typeof value === 'string' ? redactText(value) : value] as const],
  )
  return {
    status,
    retryAfter: status === 503 ? retryAfterSeconds : undefined,
    // RFC 9110, section 15.5.2: a 401 names the scheme.
    challenge: status === 401 ? 'Bearer realm="portage"' : undefined,
    body: { error: { code: error.code, message: redactText(error.message), remedy: error.remedy, facts: Object.fromEntries(facts) } },
  }
}

/** Refusals of fastify and of the schemas as RelayerErrors. */
function fromFastify(error: Error): Error {
  if (error instanceof RelayerError) return error
  if (hasZodFastifySchemaValidationErrors(error)) {
    const problems = error.validation.map(
      ({ instancePath, message }) => `${error.validationContext ?? 'request'}${instancePath}: ${message ?? 'is not valid'}`,
    )
    return new RelayerError('INPUT_INVALID', { detail: problems.join('; ') })
  }
  const { statusCode } = error as FastifyError
  if (statusCode === 429) return new RelayerError('RATE_LIMITED')
  // Malformed JSON, a wrong content type, a body that is too long: fastify's message says which.
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) return new RelayerError('INPUT_INVALID', { detail: error.message })
  return error
}
