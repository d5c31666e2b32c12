import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RelayerError, toRelayerError } from '../domain/errors.ts'
import {
  idleTimeoutMs,
  isOwnHost,
  lateCheckMs,
  limitConnections,
  maxRequestsOfConnection,
  requestTimeoutMs,
} from '../http/server-limits.ts'
import type { Logger } from '../observability/logger.ts'
import { type Check, keptFor } from './checks.ts'

/** One rendering serves all who ask within so long, ms: nobody makes a process count all day. */
const keepMetricsMs = 500
/** Most bytes of the headers of a request: a scraper sends some hundred. */
const mostHeaderBytes = 8 * 1024

export interface AdminOptions {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  /** Names that it is asked by, beside addresses and localhost. */
  readonly hosts: readonly string[]
  /** What the process depends on. Throws never. */
  readonly checks: () => Promise<readonly Check[]>
  /** Prometheus text. */
  readonly metrics: () => Promise<string>
  readonly logger: Logger
}

export interface AdminServer {
  /** That it listens on. */
  readonly port: number
  close(): Promise<void>
}

interface Answer {
  readonly status: number
  readonly type: string
  readonly body: string
}

const text = 'text/plain; charset=utf-8'
const plain = (status: number, body: string): Answer => ({ status, type: text, body: `${body}\n` })

/**
 * `GET /healthz`: the process is alive. `GET /readyz`: 200 if nothing vital is missing, else 503; each check by its name. `GET /metrics`: Prometheus text. It
 * reads, and nothing else: no token is asked for, so that it takes no order and shows no secret. Throws ADMIN_LISTEN.
 */
export async function openAdminServer({ host, port, hosts, checks, metrics, logger }: AdminOptions): Promise<AdminServer> {
  const render = keptFor(keepMetricsMs, metrics)
  const routes: Readonly<Record<string, () => Promise<Answer>>> = {
    '/healthz': async () => plain(200, 'ok'),
    '/readyz': async () => readiness(await checks()),
    '/metrics': async () => ({ status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', body: await render() }),
  }
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    if (!isOwnHost(request.headers.host, hosts)) return plain(421, 'The request names a host that is not in admin.hosts of the config.')
    const route = routes[(request.url ?? '').split('?', 1)[0] ?? '']
    if (!route) return plain(404, `There are ${Object.keys(routes).join(', ')}.`)
    if (request.method !== 'GET' && request.method !== 'HEAD') return plain(405, 'Only GET: nothing is ordered here.')
    return route()
  }
  const limits = { requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs, connectionsCheckingInterval: lateCheckMs }
  const server = createServer({ ...limits, keepAliveTimeout: idleTimeoutMs, maxHeaderSize: mostHeaderBytes }, (request, response) => {
    void answer(request)
      .catch((error: unknown) => {
        logger.error('a request to the admin port failed', { error: toRelayerError(error).message })
        return plain(500, 'The log says why.')
      })
      .then((said) => send(request, response, said))
  })
  server.maxRequestsPerSocket = maxRequestsOfConnection
  limitConnections(server)
  try {
    await once(server.listen({ host, port }), 'listening')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new RelayerError('ADMIN_LISTEN', { facts: { 'admin.host': host, 'admin.port': port, reason: code }, cause })
  }
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** What is vital and missing comes first in `waitsFor`. */
function readiness(checks: readonly Check[]): Answer {
  const waitsFor = checks.filter(({ ok, vital }) => vital && !ok).map(({ name }) => name)
  const ready = waitsFor.length === 0
  return { status: ready ? 200 : 503, type: 'application/json; charset=utf-8', body: JSON.stringify({ ready, waitsFor, checks }) }
}

function send(request: IncomingMessage, response: ServerResponse, { status, type, body }: Answer): void {
  // A body is not read: its connection ends with the answer.
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers
  const hasBody = length !== '0' || encoding !== undefined
  const headers = { 'content-type': type, 'content-length': Buffer.byteLength(body), 'cache-control': 'no-store' }
  response.writeHead(status, { ...headers, 'x-content-type-options': 'nosniff', ...(hasBody && { connection: 'close' }) })
  response.end(request.method === 'HEAD' ? undefined : body, () => hasBody && request.socket.destroy())
}
