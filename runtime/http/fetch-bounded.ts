import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip } from 'node:zlib'

/** The answer is longer than it may be; it was read no further. */
export class AnswerTooLong extends Error {
  readonly mostBytes: number

  constructor(mostBytes: number) {
    super(`an answer of more than ${mostBytes} bytes`)
    this.name = 'AnswerTooLong'
    this.mostBytes = mostBytes
  }
}

/** Bytes that several answers may hold in memory at a time. */
export interface ByteBudget {
  /** False: there is no room for so many. */
  take(bytes: number): boolean
  give(bytes: number): void
}

export interface FetchLimits {
  /** For the whole exchange, the last byte of the answer included, ms. */
  readonly timeoutMs: number
  /** Most bytes of the answer: as announced, and as they come out of decompression. */
  readonly mostBytes: number
  /** Shared with other requests; absent: none. */
  readonly budget?: ByteBudget | undefined
  /** Ends it early. */
  readonly signal?: AbortSignal | undefined
}

export interface BoundedAnswer {
  readonly ok: boolean
  readonly status: number
  readonly headers: Pick<Headers, 'get'>
  readonly text: string
}

export interface BoundedRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** A connection without a request stays open so long, ms: below the five seconds after which many servers close theirs. */
const idleMs = 4_000
const options = { keepAlive: true, timeout: idleMs } as const
const agents = { 'http:': new HttpAgent(options), 'https:': new HttpsAgent(options) } as const
/** A Map: an object would find `constructor` and `__proto__`, which a server may name, too. */
const decoders: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['br', createBrotliDecompress],
])

/**
 * One HTTP request to a server that may be hostile. A redirect is not followed (it may lead anywhere, and would take what was asked there): it is an
 * answer with its status. A status that is no success has its text only if that is short. By Node's own client: `fetch` takes three times the CPU, and each
 * transfer needs some requests. Throws AnswerTooLong, TimeoutError or the signal's reason for one that did not end in time, the socket's errors, and TypeError for
 * a URL that is not of HTTP.
 */
export async function fetchBounded(url: URL, request: BoundedRequest, limits: FetchLimits): Promise<BoundedAnswer> {
  const { timeoutMs, signal } = limits
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new DOMException('no answer in time', 'TimeoutError')), timeoutMs)
  const abort = () => late.abort(signal?.reason)
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()
  try {
    return await exchange(url, request, limits, late.signal)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

function exchange(
  url: URL,
  { method = 'GET', headers, body }: BoundedRequest,
  limits: Pick<FetchLimits, 'mostBytes' | 'budget'>,
  late: AbortSignal,
): Promise<BoundedAnswer> {
  return new Promise((resolve, reject) => {
    const { protocol } = url
    if (protocol !== 'http:' && protocol !== 'https:') throw new TypeError(`${protocol} is not HTTP`)
    const send = protocol === 'https:' ? httpsRequest : httpRequest
    const asked = { 'user-agent': 'node', 'accept-encoding': [...decoders.keys()].join(', '), ...headers }
    const request = send(url, { method, headers: asked, agent: agents[protocol] })
    const abort = () => request.destroy(late.reason as Error)
    let isAnswered = false
    request.on('error', reject)
    request.on('close', () => {
      late.removeEventListener('abort', abort)
      // With an upgrade, which nobody asked for, there is neither an answer nor an error.
      if (!isAnswered) reject(new Error('the server closed the connection'))
    })
    request.on('response', (response) => {
      isAnswered = true
      answerOf(response, limits).then(resolve, (error: unknown) => {
        // Wherever it failed: an answer that nobody reads to its end keeps its connection.
        response.destroy()
        request.destroy()
        reject(late.aborted ? (late.reason as Error) : error)
      })
    })
    if (late.aborted) abort()
    else late.addEventListener('abort', abort)
    request.end(body)
  })
}

async function answerOf(response: IncomingMessage, limits: Pick<FetchLimits, 'mostBytes' | 'budget'>): Promise<BoundedAnswer> {
  const { statusCode: status = 0 } = response
  const ok = status >= 200 && status < 300
  const headers = { get: (name: string) => response.headers[name.toLowerCase()]?.toString() ?? null }
  const text = await readAtMost(response, limits).catch((error: unknown) => {
    if (!ok && error instanceof AnswerTooLong) return ''
    throw error
  })
  return { ok, status, headers, text }
}

/** Bytes for so many at a time. */
export function createByteBudget(most: number): ByteBudget {
  let free = most
  return {
    take(bytes) {
      if (bytes > free) return false
      free -= bytes
      return true
    },
    give: (bytes) => void (free += bytes),
  }
}

/** Ends the connection as soon as it is too long. */
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
      if (bytes + chunk.length > mostBytes || budget?.take(chunk.length) === false) return fail(new AnswerTooLong(mostBytes))
      bytes += chunk.length
      chunks.push(chunk)
    })
    stream.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
  })
  return read.finally(() => budget?.give(bytes))
}
