import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { AnswerTooLong, createByteBudget, fetchBounded } from '../../../runtime/http/fetch-bounded.ts'
import { retryAfterMs } from '../../../runtime/http/retry-after.ts'
import { type Answer, createBatchSize, createRedactor, hasMoreValues, isTooLarge, parseAnswers, readError } from './json-rpc.ts'
import { createCallQueue, type PendingCall } from './merge-calls.ts'
import { LateAnswer, MalformedAnswer, RpcError, TransportError } from './node-errors.ts'

const json = { 'content-type': 'application/json', accept: 'application/json' }

const neverConnected = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT/

const notPassedOn = new Set([400, 401, 403, 404, 405, 410, 413, 415, 429])

const kib = 1_024
const mib = 1_024 * kib
/**
 * Maximum bytes of a short answer. A number or hash needs less, but an error may quote the request. An estimate's
 * revert may be longer, but Portage does not need the rest of such a revert.
 */
const shortAnswer = 64 * kib
const shortMethods = new Set([
  'eth_chainId',
  'eth_blockNumber',
  'eth_getTransactionCount',
  'eth_getBalance',
  'eth_gasPrice',
  'eth_estimateGas',
  'eth_sendRawTransaction',
])
const longAnswers: Readonly<Record<string, number>> = {
  eth_getBlockByNumber: 16 * mib,
  eth_getBlockReceipts: 24 * mib,
  eth_getLogs: 24 * mib,
  // The longest receipt has 16 MiB: the receipt of a transaction with 2^24 gas (EIP-7825) that emits empty logs.
  eth_getTransactionReceipt: 24 * mib,
}

/** Whether strangers choose the length of the method's answer. */
export const isOfAnyLength = (method: string) => Object.hasOwn(longAnswers, method)

const mostBytes = 32 * mib
/**
 * Maximum number of values in an answer. It limits the memory of parsed answers, because an empty object takes 30 times
 * as much memory as its text.
 */
const mostValues = 600_000

function mostBytesFor(calls: readonly PendingCall[]): number {
  const limits = calls.map(({ method }) => (shortMethods.has(method) ? shortAnswer : (longAnswers[method] ?? mib)))
  const sum = limits.reduce((total, limit) => total + limit, 0)
  return Math.min(mostBytes, sum)
}

export interface NodeTarget {
  readonly url: string
  readonly authorization?: string | undefined
}

/** Calls of one kind that are made within a few ms share a request. */
export function createJsonRpcClient(node: NodeTarget, timeoutMs: number, closing: AbortSignal, count: (method: string) => void) {
  const { origin, redact, post } = createPost(node, timeoutMs, closing)
  const batches = createBatchSize(() => performance.now())

  function postAll(calls: readonly PendingCall[]): void {
    const { size } = batches
    for (let at = 0; at < calls.length; at += size) void postBatch(calls.slice(at, at + size))
  }

  async function postBatch(calls: readonly PendingCall[]): Promise<void> {
    for (const { method } of calls) count(method)
    const bodies = calls.map(({ id, method, params }) => ({ jsonrpc: '2.0', id, method, params }))
    try {
      const body = JSON.stringify(bodies.length === 1 ? bodies[0] : bodies)
      const { text, status, retryAfterMs } = await post(body, mostBytesFor(calls))
      const answers = parseAnswers(text, calls.length)
      if (calls.length > 1 && isTooLarge(answers, status, calls)) {
        batches.refused(calls.length)
        return postAll(calls)
      }
      const reason = status >= 200 && status < 300 ? 'an answer that is not JSON-RPC' : `HTTP ${status}`
      if (!answers) throw new TransportError(origin, reason, !notPassedOn.has(status), retryAfterMs)
      settle(calls, answers, (method, error) =>
        error
          ? new RpcError(origin, method, readError(error, redact), { status, retryAfterMs })
          : new TransportError(origin, `no answer to ${method}`, true),
      )
    } catch (error) {
      if (error instanceof MalformedAnswer && calls.length > 1) {
        batches.refused(calls.length)
        // The calls are sent again in smaller batches, so that the long answer to one call does not make all others
        // fail.
        if (error.isTooLong) return postAll(calls)
      }
      for (const { reject } of calls) reject(error as Error)
    }
  }

  return { origin, request: createCallQueue(postAll, () => batches.size, origin, closing) }
}

function settle(calls: readonly PendingCall[], answers: readonly Answer[], failed: (method: string, error?: unknown) => Error): void {
  const byId = new Map(answers.map((answer) => [answer.id, answer]))
  const whole = answers.find(({ id, error }) => id == null && error)
  for (const { id, method, resolve, reject } of calls) {
    const answer = byId.get(id) ?? whole
    if (answer && !answer.error) resolve(answer.result)
    else reject(failed(method, answer?.error))
  }
}

function createPost({ url, authorization }: NodeTarget, timeoutMs: number, signal: AbortSignal) {
  const target = new URL(url)
  const { origin } = target
  const redact = createRedactor(target, authorization)
  const headers = { ...json, ...(authorization !== undefined && { authorization }) }
  const budget = createByteBudget(2 * mostBytes)
  return {
    origin,
    redact,
    async post(body: string, longest: number) {
      try {
        const limits = { timeoutMs, signal, budget, mostBytes: longest }
        const { text, status, headers: received } = await fetchBounded(target, { method: 'POST', headers, body }, limits)
        if (hasMoreValues(text, mostValues)) throw tooLong(origin, `${mostValues} values`)
        return { text, status, retryAfterMs: retryAfterMs(received.get('retry-after'), Date.now()) }
      } catch (error) {
        if (error instanceof MalformedAnswer) throw error
        if (error instanceof AnswerTooLong) throw tooLong(origin, `${error.mostBytes} bytes`, error.isOfOthers ? 'others' : 'long')
        const isLate = error instanceof Error && error.name === 'TimeoutError'
        if (isLate && !signal.aborted) throw new LateAnswer(origin, `no answer within ${timeoutMs} ms`, true)
        const reason = signal.aborted ? 'closed' : redact(describe(error))
        throw new TransportError(origin, reason, !neverConnected.test(reason))
      }
    },
  }
}

function tooLong(origin: string, most: string, why: 'long' | 'others' = 'long'): MalformedAnswer {
  const detail = `The node's answer is longer than ${most}.`
  const refusal = new RelayerError('NODE_REFUSED', { detail, facts: { node: origin } })
  return new MalformedAnswer(origin, `an answer of more than ${most}`, refusal, why)
}

function describe(error: unknown): string {
  let reason = error
  while (reason instanceof Error && reason.cause instanceof Error) reason = reason.cause
  if (!(reason instanceof Error)) return String(reason)
  const code = (reason as { code?: unknown }).code
  return typeof code === 'string' && !reason.message.includes(code) ? `${code} ${reason.message}`.trim() : reason.message
}
