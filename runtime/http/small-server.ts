import { once } from 'node:events'
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ErrorCode, RelayerError } from '../../domain/catalogue/errors.ts'
import type { ByteBudget } from './fetch-bounded.ts'
import { idleTimeoutMs, isOwnHost, lateCheckMs, limitConnections, maxRequestsOfConnection, requestTimeoutMs } from './server-limits.ts'

/** Maximum size of the headers, bytes. A scraper sends hundreds of bytes, a browser with a token about a thousand. */
const mostHeaderBytes = 8 * 1024

export interface Answer {
  readonly status: number
  readonly type: string
  readonly body: string
  readonly headers?: OutgoingHttpHeaders
}

export type SmallServer = Awaited<ReturnType<typeof openSmallServer>>

export const plainText = (status: number, text: string): Answer => ({ status, type: 'text/plain; charset=utf-8', body: `${text}\n` })

export interface SmallServerOptions {
  readonly host: string
  readonly port: number
  readonly hosts: readonly string[]
}

interface SmallServerWork {
  readonly setting: string
  readonly code: ErrorCode
  readonly answer: (request: IncomingMessage, path: string) => Promise<Answer>
  readonly failure: (error: unknown) => Answer
}

/** Opens an HTTP server with strict limits. Throws a RelayerError with `code` if it cannot listen. */
export async function openSmallServer({ host, port, hosts }: SmallServerOptions, { setting, code, answer, failure }: SmallServerWork) {
  const limits = { requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs, connectionsCheckingInterval: lateCheckMs }
  const server = createServer({ ...limits, keepAliveTimeout: idleTimeoutMs, maxHeaderSize: mostHeaderBytes }, (request, response) => {
    // Node's parser still reports requests that came before `limitConnections` closed the connection.
    if (request.socket.destroyed) return
    const foreignHost = plainText(421, `The request names a host that is not in ${setting}.hosts of the config.`)
    const path = (request.url ?? '').split('?', 1)[0] ?? ''
    const answered = isOwnHost(request.headers.host, hosts) ? answer(request, path).catch(failure) : Promise.resolve(foreignHost)
    void answered.then((said) => send(request, response, said))
  })
  server.maxRequestsPerSocket = maxRequestsOfConnection
  limitConnections(server)
  await once(server.listen({ host, port }), 'listening').catch((cause: NodeJS.ErrnoException) => {
    throw new RelayerError(code, { facts: { [`${setting}.host`]: host, [`${setting}.port`]: port, reason: cause.code }, cause })
  })
  return {
    port: (server.address() as AddressInfo).port,
    async close(): Promise<void> {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

export class BodyTooLong extends Error {
  override readonly name = 'BodyTooLong'
  readonly busy: boolean

  constructor(busy: boolean) {
    super(busy ? 'There is no room for this body now.' : 'The body is too long.')
    this.busy = busy
  }
}

/** Passes the body of a request to `use`. Throws BodyTooLong, the errors of `use` and the errors of the connection. */
export async function withBody<Result>(
  request: IncomingMessage,
  { mostBytes, budget }: { readonly mostBytes: number; readonly budget: ByteBudget },
  use: (body: Buffer) => Promise<Result>,
): Promise<Result> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    // By default, an error in this loop closes the connection before the answer is sent.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (bytes + chunk.length > mostBytes) throw new BodyTooLong(false)
      if (!budget.take(chunk.length)) throw new BodyTooLong(true)
      bytes += chunk.length
      chunks.push(chunk)
    }
    return await use(Buffer.concat(chunks))
  } finally {
    budget.give(bytes)
  }
}

function send(request: IncomingMessage, response: ServerResponse, { status, type, body, headers: own }: Answer): void {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers
  const isUnread = (length !== '0' || encoding !== undefined) && !request.readableEnded
  const headers = { 'content-type': type, 'content-length': Buffer.byteLength(body), 'cache-control': 'no-store' }
  response.writeHead(status, { ...headers, 'x-content-type-options': 'nosniff', ...own, ...(isUnread && { connection: 'close' }) })
  response.end(request.method === 'HEAD' ? undefined : body, () => isUnread && request.socket.destroy())
}
