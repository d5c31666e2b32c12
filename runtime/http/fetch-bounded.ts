import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip } from 'node:zlib'
import { Wait } from '../wait.ts'

/** Thrown if an answer exceeds `mostBytes`, or the rest of the byte budget. The end of the answer was not read. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong'
  readonly mostBytes: number
  /** True if other answers have taken the byte budget. */
  readonly isOfOthers: boolean

  constructor(mostBytes: number, isOfOthers = false) {
    super(`an answer of more than ${mostBytes} bytes`)
    this.mostBytes = mostBytes
    this.isOfOthers = isOfOthers
  }
}

/** Thrown if an answer with a success status does not end in time. */
export class AnswerTooSlow extends Error {
  override readonly name = 'TimeoutError'
}

export type ByteBudget = ReturnType<typeof createByteBudget>

export interface FetchLimits {
  readonly timeoutMs: number
  /** Limit of the content-length, and of the body after decompression. */
  readonly mostBytes: number
  readonly budget?: ByteBudget | undefined
  readonly signal?: AbortSignal | undefined
}

export type BoundedAnswer = Awaited<ReturnType<typeof readAnswer>>

export interface BoundedRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Idle time (ms) of a connection. Many servers close after 5 s, and a request at that moment would fail. */
const idleMs = 4_000
const options = { keepAlive: true, timeout: idleMs } as const
const agents = { 'http:': new HttpAgent(options), 'https:': new HttpsAgent(options) } as const
/** A Map, because a server may name the encoding `constructor`, which every plain object has. */
const decoders: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['br', createBrotliDecompress],
])

/**
 * Sends one HTTP request to a server that may be hostile. Does not follow redirects. `fetch` would take three times the
 * CPU. Throws AnswerTooLong, AnswerTooSlow, TimeoutError, the signal's reason, the socket's errors, and TypeError for
 * other protocols.
 */
export async function fetchBounded(
  url: URL,
  { method = 'GET', headers, body }: BoundedRequest,
  limits: FetchLimits,
): Promise<BoundedAnswer> {
  const { protocol } = url
  const { timeoutMs, signal } = limits
  if (protocol !== 'http:' && protocol !== 'https:') throw new TypeError(`${protocol} is not HTTP`)
  const send = protocol === 'https:' ? httpsRequest : httpRequest
  const sent = { 'user-agent': 'node', 'accept-encoding': [...decoders.keys()].join(', '), ...headers }
  const request = send(url, { method, headers: sent, agent: agents[protocol] })
  let [isAnswered, isSuccess] = [false, false]
  const exchange = new Wait<BoundedAnswer>({ timeoutMs, signal }, () => {
    const late = isSuccess ? new AnswerTooSlow('the answer did not end in time') : new DOMException('no answer in time', 'TimeoutError')
    exchange.reject(signal?.aborted ? signal.reason : late)
    request.destroy()
  })
  request.on('error', exchange.reject)
  // If the server upgrades the protocol unasked, Node emits neither `response` nor `error`.
  request.on('close', () => isAnswered || exchange.reject(new Error('the server closed the connection')))
  request.on('response', (response) => {
    isAnswered = true
    isSuccess = isOk(response)
    readAnswer(response, limits).then(exchange.resolve, (error: unknown) => {
      // An answer that is not read to its end would keep the connection open.
      response.destroy()
      request.destroy()
      exchange.reject(error)
    })
  })
  request.end(body)
  return exchange.promise
}

function isOk({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300
}

async function readAnswer(response: IncomingMessage, limits: Pick<FetchLimits, 'mostBytes' | 'budget'>) {
  const { statusCode: status = 0 } = response
  const ok = isOk(response)
  const headers = { get: (name: string) => response.headers[name.toLowerCase()]?.toString() ?? null }
  const text = await readAtMost(response, limits).catch((error: unknown) => {
    if (!ok && error instanceof AnswerTooLong) return ''
    throw error
  })
  return { ok, status, headers, text }
}

export function createByteBudget(most: number) {
  let free = most
  return {
    take(bytes: number): boolean {
      if (bytes > free) return false
      free -= bytes
      return true
    },
    give: (bytes: number) => void (free += bytes),
  }
}

function readAtMost(response: IncomingMessage, { mostBytes, budget }: Pick<FetchLimits, 'mostBytes' | 'budget'>): Promise<string> {
  const decoder = decoders.get(response.headers['content-encoding']?.toLowerCase() ?? '')?.()
  const stream = decoder ? response.pipe(decoder) : response
  const chunks: Buffer[] = []
  let bytes = 0
  const read = new Promise<string>((resolve, reject) => {
    const fail = (error: Error) => {
      reject(error)
      stream.destroy()
      response.destroy()
    }
    if (Number(response.headers['content-length'] ?? 0) > mostBytes) return fail(new AnswerTooLong(mostBytes))
    for (const one of new Set([response, stream])) one.on('error', fail)
    response.on('close', () => response.complete || fail(new Error('the answer ended too early')))
    stream.on('data', (chunk: Buffer) => {
      if (bytes + chunk.length > mostBytes) return fail(new AnswerTooLong(mostBytes))
      if (budget?.take(chunk.length) === false) return fail(new AnswerTooLong(mostBytes, true))
      bytes += chunk.length
      chunks.push(chunk)
    })
    stream.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
  })
  return read.finally(() => budget?.give(bytes))
}
