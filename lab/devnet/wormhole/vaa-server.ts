import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface VaaAnswer {
  readonly code: number
  readonly body: unknown
}

/** Faults of a VAA server. They last until the next call of `trouble`. */
export interface Trouble {
  /**
   * Limits the requests per window of `perMs`. Further requests get 429 with a Retry-After: whole seconds, rounded up
   * (default), or a date. With `blockMs`, the first refusal starts a block of this length (ms), without Retry-After.
   */
  readonly limit?: {
    readonly requests: number
    readonly perMs: number
    readonly retryAfter?: 'seconds' | 'date'
    readonly blockMs?: number
  }
  readonly refuse?: { readonly status: number; readonly retryAfterSeconds?: number }
  readonly silent?: boolean
}

export interface VaaServer {
  readonly url: string
  /** Paths of all requests, in the order of arrival, including refused requests. */
  readonly requests: readonly string[]
  /**
   * Number of requests that came before the end of a Retry-After, or while their address was shut out. Requests sent
   * before the refusal do not count.
   */
  readonly early: number
  /** Sets the faults. Without an argument, the server is healthy again. */
  trouble(trouble?: Trouble): void
  stop(): Promise<void>
}

/**
 * Time for which requests sent before a refusal may still arrive, ms. The time is long, because the machine may be
 * busy.
 */
const onTheWayMs = 1_000

export async function startVaaServer(
  answer: (method: string, path: string, query: URLSearchParams) => VaaAnswer,
  port = 0,
): Promise<VaaServer> {
  const requests: string[] = []
  let now: Trouble = {}
  let [windowEnd, inWindow, closedFrom, closedUntil, early] = [0, 0, 0, 0, 0]

  function refusal(): { status: number; waitMs?: number; as: 'seconds' | 'date' | 'nothing' } | undefined {
    const { refuse, limit } = now
    if (refuse) {
      const { status, retryAfterSeconds: seconds } = refuse
      return { status, as: 'seconds', ...(seconds !== undefined && { waitMs: seconds * 1_000 }) }
    }
    if (!limit) return undefined
    if (Date.now() >= windowEnd) [windowEnd, inWindow] = [Date.now() + limit.perMs, 0]
    if (limit.blockMs !== undefined) {
      const waitMs = closedUntil > Date.now() ? closedUntil - Date.now() : limit.blockMs
      return waitMs < limit.blockMs || ++inWindow > limit.requests ? { status: 429, waitMs, as: 'nothing' } : undefined
    }
    return ++inWindow > limit.requests ? { status: 429, waitMs: windowEnd - Date.now(), as: limit.retryAfter ?? 'seconds' } : undefined
  }

  function serve(request: IncomingMessage, response: ServerResponse): void {
    const { pathname: path, searchParams } = new URL(request.url ?? '/', 'http://devnet')
    requests.push(path)
    if (now.silent) return
    if (closedFrom < Date.now() && Date.now() < closedUntil) early++
    const refused = refusal()
    if (refused) {
      const { status, waitMs, as } = refused
      // The time is rounded up like the header, so that a client that obeys the header is never early.
      const until = waitMs === undefined ? undefined : Math.ceil((Date.now() + waitMs) / 1_000) * 1_000
      if (until !== undefined && Date.now() >= closedUntil) closedFrom = Date.now() + onTheWayMs
      if (until !== undefined) closedUntil = Math.max(closedUntil, Math.min(until, Date.now() + Math.ceil((waitMs ?? 0) / 1_000) * 1_000))
      const value = until === undefined || waitMs === undefined ? undefined : retryAfter(as, until, waitMs)
      response.writeHead(status, { 'content-type': 'application/json', ...(value !== undefined && { 'retry-after': value }) }).end('{}')
      return
    }
    const { code, body } = answer(request.method ?? '', path, searchParams)
    response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }

  const server = createServer(serve)
  await once(server.listen(port, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get early() {
      return early
    },
    trouble(trouble = {}) {
      now = trouble
      ;[windowEnd, inWindow, closedFrom, closedUntil] = [0, 0, 0, 0]
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function retryAfter(as: 'seconds' | 'date' | 'nothing', until: number, waitMs: number): string | undefined {
  if (as === 'nothing') return undefined
  return as === 'date' ? new Date(until).toUTCString() : String(Math.ceil(waitMs / 1_000))
}
