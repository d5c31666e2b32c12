import { isTooLarge, parseAnswers, readError, readRetryAfter } from './json-rpc.ts'
import { RpcError, TransportError } from './node-errors.ts'
import { createRedactor } from './redact.ts'

export interface NodeOptions {
  readonly url: string
  /** From the first byte sent to the last received, ms. */
  readonly timeoutMs: number
  /** How long the first call of a batch waits for others, ms. */
  readonly stallMs: number
  readonly maxBatch: number
  /** Told of every call that leaves, by method. */
  readonly count: (method: string) => void
}

/** One JSON-RPC node over HTTP. Calls made within a few milliseconds of each other leave in one HTTP request. */
export interface Node {
  /** Scheme, host and port: all that is ever shown of the URL. */
  readonly origin: string
  /** Throws RpcError or TransportError, within the timeout. */
  request(method: string, params: readonly unknown[]): Promise<unknown>
  close(): void
}

interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

/** Errors of a connection that was never made: the request cannot have been received. */
const neverConnected = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT/
/** Statuses of a gateway that turned the request away without passing it on. */
const turnedAway = new Set([400, 401, 403, 404, 405, 410, 413, 415, 429])

export function createNode(options: NodeOptions): Node {
  const target = new URL(options.url)
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' }
  if (target.username || target.password) {
    const credentials = `${decodeURIComponent(target.username)}:${decodeURIComponent(target.password)}`
    headers['authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`
  }
  const redact = createRedactor(target)
  const origin = target.origin
  target.username = ''
  target.password = ''
  const running = new Set<AbortController>()
  let queue: Call[] = []
  let stall: NodeJS.Timeout | undefined
  let nextId = 1
  let largest = options.maxBatch
  let closed = false

  function flush(): void {
    clearTimeout(stall)
    stall = undefined
    const calls = queue
    queue = []
    postAll(calls)
  }

  function postAll(calls: readonly Call[]): void {
    for (let at = 0; at < calls.length; at += largest) void post(calls.slice(at, at + largest))
  }

  /** Sends one batch; settles every call in it, throws never. */
  async function post(calls: readonly Call[]): Promise<void> {
    const controller = new AbortController()
    running.add(controller)
    const timer = setTimeout(() => controller.abort(), options.timeoutMs)
    try {
      for (const { method } of calls) options.count(method)
      const bodies = calls.map(({ id, method, params }) => ({ jsonrpc: '2.0', id, method, params }))
      const body = JSON.stringify(bodies.length === 1 ? bodies[0] : bodies)
      const response = await fetch(target, { method: 'POST', headers, body, signal: controller.signal })
      const text = await response.text()
      settle(calls, text, response.status, readRetryAfter(response.headers.get('retry-after')))
    } catch (error) {
      const reason = controller.signal.aborted ? (closed ? 'closed' : `no answer within ${options.timeoutMs} ms`) : redact(describe(error))
      const failure = new TransportError(origin, reason, !neverConnected.test(reason))
      for (const call of calls) call.reject(failure)
    } finally {
      clearTimeout(timer)
      running.delete(controller)
    }
  }

  function settle(calls: readonly Call[], text: string, status: number, retryAfterMs: number | undefined): void {
    const answers = parseAnswers(text)
    if (calls.length > 1 && isTooLarge(answers, status)) {
      largest = Math.min(largest, Math.ceil(calls.length / 2))
      postAll(calls)
      return
    }
    if (!answers) {
      const ok = status >= 200 && status < 300
      const reason = ok ? 'an answer that is not JSON-RPC' : `HTTP ${status}`
      const failure = new TransportError(origin, reason, !turnedAway.has(status), retryAfterMs)
      for (const call of calls) call.reject(failure)
      return
    }
    const byId = new Map(answers.map((answer) => [answer.id, answer]))
    // A batch that is refused as a whole comes back as one error without an id.
    const whole = byId.get(null) ?? byId.get(undefined)
    for (const call of calls) {
      const answer = byId.get(call.id) ?? whole
      if (!answer) call.reject(new TransportError(origin, `no answer to ${call.method}`, true))
      else if (answer.error) call.reject(new RpcError(origin, call.method, readError(answer.error, redact), { status, retryAfterMs }))
      else call.resolve(answer.result)
    }
  }

  return {
    origin,
    request(method, params) {
      if (closed) return Promise.reject(new TransportError(origin, 'closed', false))
      return new Promise((resolve, reject) => {
        queue.push({ id: nextId++, method, params, resolve, reject })
        if (queue.length >= largest) flush()
        else stall ??= setTimeout(flush, options.stallMs)
      })
    },
    close() {
      closed = true
      clearTimeout(stall)
      for (const call of queue.splice(0)) call.reject(new TransportError(origin, 'closed', false))
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
