import { backoffMs } from '../../domain/backoff.ts'
import { retryAfterMs } from '../../runtime/http/retry-after.ts'
import { httpJson } from './http.ts'

export interface VaaHostOptions {
  /** Base URL. Its path and query may hold keys: only the origin is ever shown. */
  readonly url: string
  /** Longest wait for one answer, ms. */
  readonly timeoutMs: number
  /** Most requests at a time. */
  readonly parallel: number
  /** First and longest pause after a failure that names none, ms. */
  readonly pause: { readonly firstMs: number; readonly mostMs: number }
}

/** failed: no answer that can be read, or it was not asked, since it said when to come back, or failed lately; `why` has nothing of the URL. */
type HostAnswer =
  | { readonly kind: 'found'; readonly body: unknown }
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed'; readonly why: string; readonly againInMs: number }

/** Most bytes of an answer: far more than any VAA with its description. */
const mostAnswerBytes = 2_000_000
/** When an API that failed is worth another question, ms. */
const afterFailureMs = 5_000

/** One HTTP API. Its limits (requests at a time, Retry-After) hold for all requests of this process. */
export function createVaaHost({ url, timeoutMs, parallel, pause }: VaaHostOptions) {
  const base = url.endsWith('/') ? url : `${url}/`
  const queue: (() => void)[] = []
  let active = 0
  let failures = 0
  let restUntil = 0

  function rest(asked: string | null | undefined): number {
    const now = Date.now()
    const forMs = retryAfterMs(asked ?? null, now) ?? backoffMs(failures, pause.firstMs, pause.mostMs)
    failures++
    restUntil = Math.max(restUntil, now + forMs)
    return restUntil - now
  }

  async function request(path: string): Promise<HostAnswer> {
    const restMs = restUntil - Date.now()
    if (restMs > 0) return resting(restMs)
    const answer = await httpJson(new URL(path, base), { timeoutMs, mostBytes: mostAnswerBytes })
    if (answer.kind !== 'failed') {
      failures = 0
      return answer
    }
    const { status, retryAfter, why } = answer
    if (status === 429 || status === 503) return resting(rest(retryAfter))
    // A refused or too long answer says nothing about the next request; a failure of the server does.
    if (status === undefined || status >= 500) rest(retryAfter)
    return { kind: 'failed', why, againInMs: afterFailureMs }
  }

  return {
    origin: new URL(base).origin,
    /** Never throws. @param path without a leading slash */
    async ask(path: string): Promise<HostAnswer> {
      if (active >= parallel) await new Promise<void>((resolve) => queue.push(resolve))
      else active++
      try {
        // Whether it rests is looked up after the wait: the server may have refused an earlier request.
        return await request(path)
      } finally {
        const next = queue.shift()
        if (next) next()
        else active--
      }
    },
  }
}

function resting(againInMs: number): HostAnswer {
  return { kind: 'failed', why: 'asked to wait', againInMs }
}
