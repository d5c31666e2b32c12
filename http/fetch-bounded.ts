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
  readonly headers: Headers
  readonly text: string
}

/**
 * One HTTP request to a server that may be hostile. A redirect is not followed (it may lead anywhere, and would take what was asked there): it is an
 * answer with its status. A status that is no success has its text only if that is short. Throws AnswerTooLong, and what `fetch` throws: TimeoutError or the signal's reason for one that did not end in time.
 */
export async function fetchBounded(
  url: URL,
  init: Pick<RequestInit, 'method' | 'headers' | 'body'>,
  { timeoutMs, mostBytes, budget, signal }: FetchLimits,
): Promise<BoundedAnswer> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new DOMException('no answer in time', 'TimeoutError')), timeoutMs)
  const abort = () => late.abort(signal?.reason)
  signal?.addEventListener('abort', abort)
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal: late.signal })
    const { ok, status, headers } = response
    const text = await readAtMost(response, mostBytes, budget).catch((error: unknown) => {
      if (!ok && error instanceof AnswerTooLong) return ''
      throw error
    })
    return { ok, status, headers, text }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
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

async function readAtMost(response: Response, mostBytes: number, budget?: ByteBudget): Promise<string> {
  if (Number(response.headers.get('content-length') ?? 0) > mostBytes) {
    await response.body?.cancel()
    throw new AnswerTooLong(mostBytes)
  }
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    // Leaving the loop ends the connection.
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      if (bytes + chunk.length > mostBytes || budget?.take(chunk.length) === false) throw new AnswerTooLong(mostBytes)
      bytes += chunk.length
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString('utf8')
  } finally {
    budget?.give(bytes)
  }
}
