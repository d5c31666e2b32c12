import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { AnswerTooLong, type ByteBudget, createByteBudget, fetchBounded } from '../../../runtime/http/fetch-bounded.ts'
import { splitCredentials } from '../url.ts'
import { mostBytesAtOnce, mostBytesFor } from './answer-limits.ts'
import { createBatchSize } from './batch-size.ts'
import { isTooLarge, parseAnswers, readError, readRetryAfter } from './json-rpc.ts'
import { createCallMerger, type PendingCall } from './merge-calls.ts'
import { MalformedAnswer, RpcError, TransportError } from './node-errors.ts'
import { createRedactor } from './redact.ts'

/** Calls of one tick leave together; 5 ms also gathers those that a head event has set off. */
const stallMs = 5

const json = { 'content-type': 'application/json', accept: 'application/json' }

/** Errors of a connection that was never made: the request cannot have been received. */
const neverConnected = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT/

/** Statuses of a gateway that turned the request away without passing it on. */
const turnedAway = new Set([400, 401, 403, 404, 405, 410, 413, 415, 429])

/** JSON-RPC over HTTP with one URL; calls of a few milliseconds leave in one request, reads of contracts at one block in one call. `count` is called for every call that leaves. */
export function createJsonRpcClient(url: string, timeoutMs: number, closing: AbortSignal, count: (method: string) => void) {
  const redact = createRedactor(new URL(url))
  const service = { ...splitCredentials(url), redact, timeoutMs, closing, budget: createByteBudget(mostBytesAtOnce) }
  const { origin } = service
  const queue: PendingCall[] = []
  let stall: NodeJS.Timeout | undefined
  let nextId = 1
  const now = () => performance.now()
  const batches = createBatchSize(now)
  const merged = createCallMerger(postAll, () => nextId++, now)

  function flush(): void {
    clearTimeout(stall)
    stall = undefined
    postAll(merged(queue.splice(0)))
  }

  function postAll(calls: readonly PendingCall[]): void {
    const { size } = batches
    for (let at = 0; at < calls.length; at += size) void postBatch(calls.slice(at, at + size))
  }

  /** Sends one batch; resolves or rejects every call in it, and throws never. */
  async function postBatch(calls: readonly PendingCall[]): Promise<void> {
    for (const { method } of calls) count(method)
    const bodies = calls.map(({ id, method, params }) => ({ jsonrpc: '2.0', id, method, params }))
    try {
      const { text, status, retryAfterMs } = await post(service, JSON.stringify(bodies.length === 1 ? bodies[0] : bodies), calls)
      const answers = parseAnswers(text, calls.length)
      if (calls.length > 1 && isTooLarge(answers, status, calls)) {
        batches.refused(calls.length)
        return postAll(calls)
      }
      const reason = status >= 200 && status < 300 ? 'an answer that is not JSON-RPC' : `HTTP ${status}`
      if (!answers) throw new TransportError(origin, reason, !turnedAway.has(status), retryAfterMs)
      const byId = new Map(answers.map((answer) => [answer.id, answer]))
      // A batch that is refused as a whole comes back as one error without an id.
      const whole = answers.find(({ id, error }) => id == null && error)
      for (const { id, method, resolve, reject } of calls) {
        const answer = byId.get(id) ?? whole
        if (!answer) reject(new TransportError(origin, `no answer to ${method}`, true))
        else if (answer.error) reject(new RpcError(origin, method, readError(answer.error, redact), { status, retryAfterMs }))
        else resolve(answer.result)
      }
    } catch (error) {
      if (error instanceof MalformedAnswer && calls.length > 1) batches.refused(calls.length)
      for (const { reject } of calls) reject(error as Error)
    }
  }

  closing.addEventListener('abort', () => {
    clearTimeout(stall)
    for (const { reject } of queue.splice(0)) reject(new TransportError(origin, 'closed', false))
  })

  return {
    origin,
    /** Throws RpcError or TransportError, within the timeout. */
    async request(method: string, params: readonly unknown[]): Promise<unknown> {
      if (closing.aborted) throw new TransportError(origin, 'closed', false)
      return new Promise((resolve, reject) => {
        queue.push({ id: nextId++, method, params, resolve, reject })
        if (queue.length >= batches.size) flush()
        else stall ??= setTimeout(flush, stallMs)
      })
    },
  }
}

interface Service extends ReturnType<typeof splitCredentials> {
  /** Replaces the secret parts of the URL in a text. */
  readonly redact: (text: string) => string
  readonly timeoutMs: number
  readonly closing: AbortSignal
  readonly budget: ByteBudget
}

/** Posts JSON. Throws TransportError: no whole answer within the timeout; MalformedAnswer: one that is too long. */
async function post({ target, headers: credentials, origin, redact, ...service }: Service, body: string, calls: readonly PendingCall[]) {
  const { timeoutMs, closing, budget } = service
  const limits = { timeoutMs, mostBytes: mostBytesFor(calls.map(({ method }) => method)), budget, signal: closing }
  try {
    const { text, status, headers } = await fetchBounded(target, { method: 'POST', headers: { ...credentials, ...json }, body }, limits)
    return { text, status, retryAfterMs: readRetryAfter(headers.get('retry-after')) }
  } catch (error) {
    if (error instanceof AnswerTooLong) {
      const detail = `The node's answer is longer than ${error.mostBytes} bytes.`
      throw new MalformedAnswer(origin, error.message, new RelayerError('NODE_REFUSED', { detail, facts: { node: origin } }))
    }
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    const why = closing.aborted ? 'closed' : isLate ? `no answer within ${timeoutMs} ms` : undefined
    const reason = why ?? redact(describe(error))
    throw new TransportError(origin, reason, !neverConnected.test(reason))
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
