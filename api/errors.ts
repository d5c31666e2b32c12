import type { FastifyError } from 'fastify'
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { type ErrorCode, RelayerError, toRelayerError } from '../domain/catalogue/errors.ts'
import { redactText } from '../observability/redact.ts'
import { type FieldError, fieldErrors, fieldErrorsText } from './field-errors.ts'

/** RFC 9457. */
export const problemType = 'application/problem+json'

/** The members of RFC 9457, and the fields of the catalogue of errors. */
export const problemSchema = z
  .object({
    type: z.string().describe('Names the kind of problem: `urn:portage:error:` and the code.'),
    title: z.string().describe('Meaning of the code.'),
    status: z.number().int(),
    detail: z.string().describe('This occurrence.'),
    code: z.string().describe('A stable code: docs/reference/errors.md.'),
    remedy: z.string().describe('Next step of the reader.'),
    facts: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).describe('The subject: a transfer, a chain, a lane…'),
    errors: z
      .array(z.object({ path: z.string().describe('`body.reason`, `querystring.limit`…'), message: z.string() }))
      .optional()
      .describe('Every field of the request that is wrong.'),
  })
  .describe('The reason of a refusal, and its remedy.')

export type Problem = z.output<typeof problemSchema>

export const errorSchema = {
  description: 'The reason of a refusal, and its remedy (RFC 9457).',
  content: { [problemType]: { schema: problemSchema } },
}

/** Other retriable codes are 503; all other codes are 422: the request was understood and refused. */
const statusByCode: Partial<Record<ErrorCode, number>> = {
  INPUT_INVALID: 400,
  MESSAGE_ENCODING: 400,
  TRANSFER_NOT_FOUND: 404,
  LANE_NOT_FOUND: 404,
  STREAM_NOT_FOUND: 404,
  TRANSFER_AMBIGUOUS: 409,
  IDEMPOTENCY_KEY_BUSY: 409,
  RECEIVER_NOT_FOUND: 404,
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

/** About a block of most chains. */
const retryAfterSeconds = 10

/** Has no secrets. `retryAfter`: seconds, where another try may help. `challenge`: the header www-authenticate. */
export function toErrorAnswer(thrown: unknown) {
  const { error, errors } = fromFastify(thrown)
  const status = statusByCode[error.code] ?? (error.retriable ? 503 : 422)
  const facts = Object.entries(error.facts).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, typeof value === 'string' ? redactText(value) : value] as const],
  )
  const body: Problem = {
    type: `urn:portage:error:${error.code}`,
    title: error.title,
    status,
    detail: redactText(error.about || error.title),
    code: error.code,
    remedy: error.remedy,
    facts: Object.fromEntries(facts),
    ...(errors && { errors: errors.map(({ path, message }) => ({ path: redactText(path), message: redactText(message) })) }),
  }
  return {
    status,
    retryAfter: status === 503 || error.code === 'IDEMPOTENCY_KEY_BUSY' ? retryAfterSeconds : undefined,
    // A 401 names the scheme (RFC 9110, section 15.5.2).
    challenge: status === 401 ? 'Bearer realm="portage"' : undefined,
    body,
  }
}

export function textOf({ title, detail, remedy }: Problem): string {
  return [title, detail === title ? '' : detail, `→ ${remedy}`].filter(Boolean).join(' ')
}

function fromFastify(thrown: unknown): { readonly error: RelayerError; readonly errors?: readonly FieldError[] } {
  if (!(thrown instanceof Error) || thrown instanceof RelayerError) return { error: toRelayerError(thrown) }
  if (hasZodFastifySchemaValidationErrors(thrown)) {
    const errors = fieldErrors(thrown.validationContext ?? 'request', thrown.validation)
    return { error: new RelayerError('INPUT_INVALID', { detail: fieldErrorsText(errors) }), errors }
  }
  const { statusCode, code: reason } = thrown as FastifyError
  if (statusCode === 429) return { error: new RelayerError('RATE_LIMITED') }
  // Fastify's message names the fault: malformed JSON, a wrong content type, a body that is too long.
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return { error: new RelayerError('INPUT_INVALID', { detail: thrown.message, facts: { reason } }) }
  }
  return { error: toRelayerError(thrown) }
}
