import type { IncomingMessage } from 'node:http'
import type { Payload, PayloadCodec } from '@temporalio/common'
import { z } from 'zod'
import { authenticate, bearerOf, type TokenCheck } from '../access/principals.ts'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import { type ByteBudget, createByteBudget } from '../../runtime/http/fetch-bounded.ts'
import {
  type Answer,
  BodyTooLong,
  openSmallServer,
  plainText,
  type SmallServer,
  type SmallServerOptions,
  withBody,
} from '../../runtime/http/small-server.ts'
import type { Logger } from '../../observability/logger.ts'

/** A payload has at most 2 MiB, which is 2.7 MiB in base64. One event may have several. */
const mostBodyBytes = 8 * 1024 * 1024
const mostTokenBytes = 8 * 1024
const mostBytesAtATime = 64 * 1024 * 1024

export interface CodecServerOptions extends SmallServerOptions {
  readonly origins: readonly string[]
  readonly codec: PayloadCodec
  readonly check: TokenCheck
  readonly logger: Logger
}

/** There is no path `/encode`, because only Portage encrypts. Throws CODEC_LISTEN. */
export function openCodecServer(options: CodecServerOptions): Promise<SmallServer> {
  const room = createByteBudget(mostBytesAtATime)
  const failed = (error: unknown) => failure(error, options.logger)
  return openSmallServer(options, {
    setting: 'codecServer',
    code: 'CODEC_LISTEN',
    failure: failed,
    async answer(request, path) {
      if (path === '/healthz') return plainText(200, 'ok')
      if (path === '/') return request.method === 'GET' ? signInPage() : plainText(405, 'Only GET.')
      if (path === '/sign-in') return signIn(request, options, room)
      if (path !== '/decode') return plainText(404, 'The paths are GET /, POST /sign-in and POST /decode. This server encrypts nothing.')
      const { origin } = request.headers
      if (origin !== undefined && !options.origins.includes(origin))
        return plainText(403, 'codecServer.origins of the config does not contain this origin.')
      const allowed = { 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true', vary: 'origin' }
      const cors = origin === undefined ? {} : allowed
      if (request.method === 'OPTIONS') return { ...plainText(204, ''), body: '', headers: { ...cors, ...preflight } }
      const answered = await decode(request, options, room).catch(failed)
      return { ...answered, headers: { ...answered.headers, ...cors } }
    },
  })
}

const base64 = z.base64()
/** Protobuf JSON: https://docs.temporal.io/codec-server */
const requestSchema = z.object({
  payloads: z.array(z.object({ metadata: z.record(z.string(), base64).optional(), data: base64.optional() })).max(10_000),
})

type JsonPayload = z.output<typeof requestSchema>['payloads'][number]

const preflight = {
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'authorization, content-type, x-namespace',
  'access-control-max-age': '600',
}

async function decode(request: IncomingMessage, { codec, check, logger }: CodecServerOptions, budget: ByteBudget) {
  if (request.method !== 'POST') return plainText(405, 'Only POST.')
  const { authorization, cookie, 'content-type': type = '' } = request.headers
  const { name, jti } = await authenticate(authorization === undefined ? tokenOfCookie(cookie) : bearerOf(authorization), check)
  // Another origin can send a form without a preflight request, but not JSON.
  if (!/^application\/json\b/i.test(type)) return plainText(415, 'The body must be application/json.')
  const { body, payloads, unreadable } = await withBody(request, { mostBytes: mostBodyBytes, budget }, (bytes) =>
    decodeRequest(codec, bytes),
  )
  logger.info('payloads were decrypted', { by: name, token: jti, payloads, unreadable })
  return { status: 200, type: 'application/json; charset=utf-8', body }
}

/**
 * Decrypts the payloads of a request. Altered payloads, and payloads with an unknown key, stay encrypted and count as
 * `unreadable`. Throws INPUT_INVALID.
 */
async function decodeRequest(codec: PayloadCodec, body: Buffer) {
  let unreadable = 0
  const decode = async (given: JsonPayload): Promise<JsonPayload> => {
    try {
      const [payload] = await codec.decode([fromJson(given)])
      return payload ? toJson(payload) : given
    } catch {
      unreadable++
      return given
    }
  }
  const payloads = await Promise.all(payloadsOf(body).map(decode))
  return { body: JSON.stringify({ payloads }), payloads: payloads.length, unreadable }
}

function payloadsOf(body: Buffer): JsonPayload[] {
  try {
    const request = requestSchema.parse(JSON.parse(body.toString('utf8')))
    return request.payloads
  } catch {
    throw new RelayerError('INPUT_INVALID', { detail: 'The body is not {"payloads": […]} of protobuf JSON.' })
  }
}

function fromJson({ metadata = {}, data = '' }: JsonPayload): Payload {
  const fields = Object.entries(metadata).map(([name, text]) => [name, Buffer.from(text, 'base64')] as const)
  return { metadata: Object.fromEntries(fields), data: Buffer.from(data, 'base64') }
}

function toJson({ metadata, data }: Payload): JsonPayload {
  const fields = Object.entries(metadata ?? {}).map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')] as const)
  return { metadata: Object.fromEntries(fields), data: Buffer.from(data ?? []).toString('base64') }
}

async function signIn(request: IncomingMessage, { check }: CodecServerOptions, budget: ByteBudget): Promise<Answer> {
  if (request.method !== 'POST') return plainText(405, 'Only POST.')
  const { origin, host } = request.headers
  const isSecure = origin === `https://${host}`
  if (origin !== undefined && !isSecure && origin !== `http://${host}`) return plainText(403, 'This form belongs to another server.')
  const token = await withBody(request, { mostBytes: mostTokenBytes, budget }, async (body) => {
    return new URLSearchParams(body.toString('utf8')).get('token')?.trim() || undefined
  })
  try {
    const { expiresAt, level } = await authenticate(token, check)
    if (level !== 'read') return signInPage(403, 'A browser sends this cookie to every port of this host: use a token of level read.')
    // Behind a proxy that terminates TLS, only the `Origin` header of the request shows `https`.
    return signedIn(token ?? '', expiresAt, isSecure)
  } catch (error) {
    return signInPage(statusOf(toRelayerError(error)), toRelayerError(error).title)
  }
}

const cookieName = 'portage-codec'

const pageHeaders = {
  'content-security-policy': "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  // `signIn` needs the form's origin, which a browser does not send with `no-referrer`.
  'referrer-policy': 'same-origin',
}

/** The page that exchanges an access token for a cookie, because the Web UI sends cookies, but no access token. */
function signInPage(status = 200, problem = ''): Answer {
  const body = `<!doctype html><meta charset="utf-8"><title>Portage codec server</title>
<h1>Portage codec server</h1>
<p>${problem || 'With an access token of Portage, the Temporal Web UI in this browser can decrypt payloads until the token expires.'}</p>
<form method="post" action="/sign-in"><input type="password" name="token" autocomplete="off" required> <button>Sign in</button></form>
`
  return { status, type: 'text/html; charset=utf-8', body, headers: pageHeaders }
}

/** Browsers send this cookie to all ports of this host, so its token must have only the level `read`. */
function signedIn(token: string, expiresAt: number, isSecure: boolean): Answer {
  const seconds = Math.max(0, Math.floor((expiresAt - Date.now()) / 1000))
  const set = `${cookieName}=${token}; Path=/decode; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
  const { type, body } = signInPage(200, 'Done: the Temporal Web UI can now use this server.')
  return { status: 200, type, body, headers: { ...pageHeaders, 'set-cookie': set } }
}

function tokenOfCookie(header: string | undefined): string | undefined {
  const pair = header?.split(/;\s*/).find((one) => one.startsWith(`${cookieName}=`))
  return pair?.slice(cookieName.length + 1) || undefined
}

function failure(error: unknown, logger: Logger): Answer {
  if (error instanceof BodyTooLong) return plainText(error.busy ? 503 : 413, error.message)
  const known = toRelayerError(error)
  const { code, message, remedy } = known
  const status = statusOf(known)
  // The text of an unexpected error may quote the request.
  if (status === 500)
    logger.error('a request to the codec server failed', { code: 'INTERNAL', reason: error instanceof Error ? error.name : 'unknown' })
  return {
    status,
    type: 'application/json; charset=utf-8',
    body: JSON.stringify({ error: status === 500 ? { code: 'INTERNAL' } : { code, message, remedy } }),
    ...(status === 401 && { headers: { 'www-authenticate': 'Bearer realm="portage"' } }),
  }
}

function statusOf({ code, retriable }: RelayerError): number {
  if (code === 'INTERNAL') return 500
  if (code === 'INPUT_INVALID') return 400
  if (code.startsWith('ACCESS_TOKEN')) return 401
  return retriable || code === 'ACCESS_KEYS' ? 503 : 422
}
