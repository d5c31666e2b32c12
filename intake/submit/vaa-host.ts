import { backoffMs } from '../../domain/backoff.ts'
import { retryAfterMs } from '../../runtime/http/retry-after.ts'
import { httpJson } from './http.ts'

export interface VaaHostOptions {
  /** Base URL. Its path and query may hold keys, so only the origin is shown. */
  readonly url: string
  /** Longest wait for one answer, ms. */
  readonly timeoutMs: number
  readonly parallel: number
  /** First and longest pause after a failure without Retry-After, ms. */
  readonly pause: { readonly firstMs: number; readonly mostMs: number }
}

/** failed: no readable answer, or a pause after Retry-After or a failure. `why` has no part of the URL. */
type HostAnswer =
  | { readonly kind: 'found'; readonly body: unknown }
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed'; readonly why: string; readonly againInMs: number }

/** Longest answer, bytes: far more than any VAA with its description. */
const mostAnswerBytes = 2_000_000
/** Wait before an API that failed is asked again, ms. */
const afterFailureMs = 5_000

/** One HTTP API. Its limits (concurrent requests, Retry-After) apply to all requests of this process. */
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
    // A failure of the server concerns the next requests, too. A refused or too long answer does not.
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
