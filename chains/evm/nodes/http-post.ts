import { splitCredentials } from '../url.ts'
import { readRetryAfter } from './json-rpc.ts'
import { TransportError } from './node-errors.ts'
import { createRedactor } from './redact.ts'

/** Posts JSON to one URL, whose user info becomes HTTP basic authentication. */
export interface HttpPost {
  /** Scheme, host and port: all that is ever shown of the URL. */
  readonly origin: string
  /** Replaces the secret parts of the URL in a text. */
  readonly redact: (text: string) => string
  readonly closed: boolean
  /** Throws TransportError: no whole answer within the timeout. */
  post(body: string): Promise<{ readonly text: string; readonly status: number; readonly retryAfterMs: number | undefined }>
  /** Ends what is under way. */
  close(): void
}

const json = { 'content-type': 'application/json', accept: 'application/json' }

/** Errors of a connection that was never made: the request cannot have been received. */
const neverConnected = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT/

export function createHttpPost({ url, timeoutMs }: { readonly url: string; readonly timeoutMs: number }): HttpPost {
  const { target, headers, origin } = splitCredentials(url)
  const redact = createRedactor(new URL(url))
  const running = new Set<AbortController>()
  let closed = false

  return {
    origin,
    redact,
    get closed() {
      return closed
    },
    async post(body) {
      const controller = new AbortController()
      running.add(controller)
      const timer = setTimeout(() => controller.abort(), timeoutMs)
      try {
        const response = await fetch(target, { method: 'POST', headers: { ...headers, ...json }, body, signal: controller.signal })
        const text = await response.text()
        return { text, status: response.status, retryAfterMs: readRetryAfter(response.headers.get('retry-after')) }
      } catch (error) {
        const why = closed ? 'closed' : `no answer within ${timeoutMs} ms`
        const reason = controller.signal.aborted ? why : redact(describe(error))
        throw new TransportError(origin, reason, !neverConnected.test(reason))
      } finally {
        clearTimeout(timer)
        running.delete(controller)
      }
    },
    close() {
      closed = true
      for (const controller of running) controller.abort()
    },
  }
}

/** The innermost reason of a failed fetch, where the code of the socket is. */
function describe(error: unknown): string {
  let reason = error
  while (reason instanceof Error && reason.cause instanceof Error) reason = reason.cause
  if (!(reason instanceof Error)) return String(reason)
  const code = (reason as { code?: unknown }).code
  return typeof code === 'string' && !reason.message.includes(code) ? `${code} ${reason.message}`.trim() : reason.message
}
