import { splitCredentials } from '../url.ts'
import { readRetryAfter } from './json-rpc.ts'
import { TransportError } from './node-errors.ts'
import { createRedactor } from './redact.ts'

const json = { 'content-type': 'application/json', accept: 'application/json' }

/** Errors of a connection that was never made: the request cannot have been received. */
const neverConnected = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT/

/** Posts JSON to one URL, whose user info becomes HTTP basic authentication. */
export function createHttpPost(url: string, timeoutMs: number) {
  const { target, headers, origin } = splitCredentials(url)
  const redact = createRedactor(new URL(url))
  const running = new Set<AbortController>()
  let closed = false

  return {
    /** Scheme, host and port: all that is ever shown of the URL. */
    origin,
    /** Replaces the secret parts of the URL in a text. */
    redact,
    get closed() {
      return closed
    },
    /** Throws TransportError: no whole answer within the timeout. */
    async post(body: string) {
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
    /** Ends what is under way. */
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
