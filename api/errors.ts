import type { FastifyError, FastifySchemaValidationError } from 'fastify'
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod'
import { type ErrorCode, RelayerError, toRelayerError } from '../domain/catalogue/errors.ts'
import { redactText } from '../observability/redact.ts'
import { type Problem, problemSchema } from './answers.ts'

export const problemType = 'application/problem+json'

export const errorSchema = {
  description: 'The reason of a refusal, and its remedy (RFC 9457).',
  content: { [problemType]: { schema: problemSchema } },
}

/**
 * The codes of errors by HTTP status. A code that is not listed has the status 503 if it is retriable, otherwise 422.
 */
const codesByStatus: Readonly<Record<number, readonly ErrorCode[]>> = {
  400: ['INPUT_INVALID', 'MESSAGE_ENCODING'],
  401: ['ACCESS_TOKEN_MISSING', 'ACCESS_TOKEN_INVALID', 'ACCESS_TOKEN_EXPIRED', 'ACCESS_TOKEN_REVOKED'],
  403: ['ACCESS_LEVEL', 'ACCESS_SCOPE'],
  404: ['TRANSFER_NOT_FOUND', 'TRANSFER_IN_GAP', 'LANE_NOT_FOUND', 'STREAM_NOT_FOUND', 'RECEIVER_NOT_FOUND'],
  409: ['TRANSFER_AMBIGUOUS', 'IDEMPOTENCY_KEY_BUSY'],
  421: ['ACCESS_HOST'],
  429: ['RATE_LIMITED'],
  500: ['INTERNAL'],
  503: ['ACCESS_KEYS'],
}
const statusByCode = new Map(Object.entries(codesByStatus).flatMap(([status, codes]) => codes.map((code) => [code, Number(status)])))

const retryAfterSeconds = '10'

export function toErrorAnswer(thrown: unknown) {
  const { error, errors } = fromFastify(thrown)
  const status = statusByCode.get(error.code) ?? (error.retriable ? 503 : 422)
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
    headers: {
      ...((status === 503 || error.code === 'IDEMPOTENCY_KEY_BUSY') && { 'retry-after': retryAfterSeconds }),
      // A 401 must name the scheme of authentication (RFC 9110, section 15.5.2).
      ...(status === 401 && { 'www-authenticate': 'Bearer realm="portage"' }),
    },
    body,
  }
}

export function textOf({ title, detail, remedy }: Problem): string {
  return [title, detail === title ? '' : detail, `→ ${remedy}`].filter(Boolean).join(' ')
}

function fromFastify(thrown: unknown): { readonly error: RelayerError; readonly errors?: FieldErrors } {
  if (!(thrown instanceof Error) || thrown instanceof RelayerError) return { error: toRelayerError(thrown) }
  if (hasZodFastifySchemaValidationErrors(thrown)) {
    const errors = fieldErrors(thrown.validationContext ?? 'request', thrown.validation)
    return {
      error: new RelayerError('INPUT_INVALID', { detail: errors.map(({ path, message }) => `${path}: ${message}`).join('; ') }),
      errors,
    }
  }
  const { statusCode, code: reason } = thrown as FastifyError
  if (statusCode === 429) return { error: new RelayerError('RATE_LIMITED') }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return { error: new RelayerError('INPUT_INVALID', { detail: thrown.message, facts: { reason } }) }
  }
  return { error: toRelayerError(thrown) }
}

type FieldErrors = NonNullable<Problem['errors']>

interface RawIssue {
  readonly code?: string
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly errors?: readonly (readonly RawIssue[])[]
  readonly keys?: readonly string[]
}

/** Maximum number of wrong fields in an answer, because a body of 256 KB can have a hundred thousand wrong fields. */
const mostNamed = 50
const longest = 200

export function fieldErrors(context: string, issues: readonly Partial<FastifySchemaValidationError>[]): FieldErrors {
  const found = issues.slice(0, mostNamed).flatMap(({ keyword, instancePath = '', message, params }) => {
    const path = instancePath.split('/').filter(Boolean)
    return expanded({ ...params, ...(keyword !== undefined && { code: keyword }), path, message: message ?? 'is not valid' })
  })
  return found.slice(0, mostNamed).map(({ path, message }) => ({
    path: [context, ...path.map(String)].join('.').slice(0, longest),
    message: message.slice(0, longest),
  }))
}

/** Returns one problem per wrong field. Of a union, only the option with the fewest wrong fields counts. */
function expanded(issue: RawIssue): { readonly path: readonly PropertyKey[]; readonly message: string }[] {
  const { code, path, message, errors = [], keys = [] } = issue
  if (code === 'unrecognized_keys' && keys.length > 0) return keys.map((key) => ({ path: [...path, key], message: 'is not known here' }))
  const options = errors
    .filter((option) => option.length > 0)
    .map((option) => option.flatMap((one) => expanded({ ...one, path: [...path, ...one.path] })))
  const [best] = options.toSorted((a, b) => a.length - b.length)
  return code === 'invalid_union' && best ? best : [{ path, message }]
}
