import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../config/schema/schema.ts'
import { RelayerError, toRelayerError } from '../domain/catalogue/errors.ts'
import type { Logger } from '../observability/logger.ts'
import { asLogged } from '../observability/severity.ts'
import { idleTimeoutMs, isOwnHost, lateCheckMs, maxRequestsOfConnection, requestTimeoutMs } from '../runtime/http/server-limits.ts'
import type { Api } from './deps.ts'
import { problemType, toErrorAnswer } from './errors.ts'

export const serverOptions = {
  bodyLimit: 256 * 1024,
  requestTimeout: requestTimeoutMs,
  keepAliveTimeout: idleTimeoutMs,
  maxRequestsPerSocket: maxRequestsOfConnection,
  /** Transfer ids can be longer than Fastify's default of 100 characters. */
  routerOptions: { maxParamLength: 1_000 },
  http: { headersTimeout: requestTimeoutMs, connectionsCheckingInterval: lateCheckMs },
  frameworkErrors: (error: Error, _: FastifyRequest, reply: FastifyReply) => sendError(reply, error),
  clientErrorHandler,
} as const

export function sendError(reply: FastifyReply, error: unknown, given?: number) {
  const { status: usual, headers, body } = toErrorAnswer(error)
  const status = given ?? usual
  return reply
    .status(status)
    .headers({ ...headers, 'content-type': problemType })
    .send({ ...body, status })
}

/** Logs the error of an answer with status 500 or above. Errors with a lower status are the client's fault. */
export function logFailure(
  logger: Logger,
  { routeOptions: { url: route } }: FastifyRequest,
  { status, error }: { readonly status: number; readonly error: unknown },
): void {
  if (status < 500) return
  const { level, fields } = asLogged(toRelayerError(error), error)
  logger[level]('request failed', { route, status, ...fields })
}

/** Throws API_LISTEN, for example if the port is in use or the address does not belong to this machine. */
export async function listen(app: Pick<Api, 'listen'>, { host, port }: Pick<Config['api'], 'host' | 'port'>): Promise<void> {
  try {
    await app.listen({ host, port })
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new RelayerError('API_LISTEN', { facts: { 'api.host': host, 'api.port': port, reason: code }, cause })
  }
}

const rawStatus: Readonly<Record<string, readonly [status: number, phrase: string, detail: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', `The request was not complete after ${requestTimeoutMs / 1000} s.`],
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', 'The headers are too long.'],
}

function clientErrorHandler(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return void socket.destroy()
  const [status, phrase, detail] = rawStatus[error.code ?? ''] ?? [400, 'Bad Request', 'This is not an HTTP request.']
  const body = JSON.stringify(toErrorAnswer(new RelayerError('INPUT_INVALID', { detail })).body)
  const head = [
    `HTTP/1.1 ${status} ${phrase}`,
    `content-type: ${problemType}; charset=utf-8`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** Throws ACCESS_HOST for a host that is not in `names`. IP addresses and localhost are always accepted. */
export function assertHost(host: string | undefined, names: readonly string[]): void {
  if (!isOwnHost(host, names)) throw new RelayerError('ACCESS_HOST', { facts: { host: host?.slice(0, 100) } })
}
