import { backoffMs } from '../../domain/backoff.ts'
import { createByteBudget } from '../../runtime/http/fetch-bounded.ts'
import { retryAfterMs } from '../../runtime/http/retry-after.ts'
import { createTurns } from '../../runtime/turns.ts'
import { pause as sleep } from '../../runtime/wait.ts'
import { httpJson } from './http.ts'
import type { Retry } from './submissions.ts'

export interface HttpHostOptions {
  /** Only the origin is shown, because path and query may contain keys. */
  readonly url: string
  readonly timeoutMs?: number
  readonly parallel: number
  readonly pause?: Retry
  /** Maximum requests in any second. Absent: no limit. */
  readonly perSecond?: number
  /** Shortest rest after HTTP 429. Absent: as after other failures. */
  readonly restAfter429Ms?: number
  /** Limit of an answer. Default: 2,000,000. */
  readonly mostBytes?: number
  /** Limit of all answers that are being read. Absent: no limit. */
  readonly mostBytesAtOnce?: number
}

export type HostAnswer =
  | { readonly kind: 'found'; readonly body: unknown }
  | { readonly kind: 'absent' }
  /** `isOfQuestion`: the server works, and only its answer to this question cannot be used. */
  | { readonly kind: 'failed'; readonly why: string; readonly againInMs: number; readonly isOfQuestion?: boolean }

const afterFailureMs = 5_000

export type HttpHost = ReturnType<typeof createHttpHost>

/** The limits apply to all requests of this process. */
export function createHttpHost(options: HttpHostOptions) {
  const { url, timeoutMs = 5_000, parallel, pause = { firstMs: 1_000, mostMs: 60_000 }, perSecond, restAfter429Ms = 0 } = options
  const { mostBytes = 2_000_000, mostBytesAtOnce } = options
  const budget = mostBytesAtOnce === undefined ? undefined : createByteBudget(mostBytesAtOnce)
  const base = url.endsWith('/') ? url : `${url}/`
  const turns = createTurns(parallel)
  const sentAt: number[] = []
  let failures = 0
  let restUntil = 0
  let line: Promise<void> = Promise.resolve()

  function rest(asked: string | null | undefined, leastMs = 0): number {
    const now = Date.now()
    const forMs = Math.max(leastMs, retryAfterMs(asked ?? null, now) ?? backoffMs(failures, pause.firstMs, pause.mostMs))
    failures++
    restUntil = Math.max(restUntil, now + forMs)
    return restUntil - now
  }

  async function request(path: string, method: 'GET' | 'POST'): Promise<HostAnswer> {
    if (perSecond !== undefined && restUntil <= Date.now()) await (line = line.then(() => untilFree(perSecond)))
    const restMs = restUntil - Date.now()
    if (restMs > 0) return resting(restMs)
    const answer = await httpJson(new URL(path, base), { method, timeoutMs, mostBytes, budget })
    if (answer.kind !== 'failed') {
      failures = 0
      return answer
    }
    const { status, retryAfter, why, isOfQuestion = false } = answer
    if (status === 429 || status === 503) return resting(rest(retryAfter, status === 429 ? restAfter429Ms : 0))
    // Later requests wait only if the server failed or did not answer.
    if (status === undefined || status >= 500) rest(retryAfter)
    return { kind: 'failed', why, againInMs: afterFailureMs, isOfQuestion }
  }

  /** Timers of a busy process fire late, and then all at once, so requests count when they are sent. */
  async function untilFree(most: number): Promise<void> {
    for (;;) {
      const freeAt = (sentAt.at(-most) ?? -1_000) + 1_000
      if (freeAt <= performance.now()) break
      await sleep(freeAt - performance.now())
    }
    sentAt.push(performance.now())
    sentAt.splice(0, sentAt.length - most)
  }

  return {
    origin: new URL(base).origin,
    /** Never throws. `path` has no leading slash. */
    async ask(path: string, method: 'GET' | 'POST' = 'GET'): Promise<HostAnswer> {
      const lateMs = perSecond === undefined ? 0 : (turns.count * 1_000) / perSecond
      return lateMs > timeoutMs ? resting(lateMs) : turns.take(() => request(path, method))
    },
  }
}

function resting(againInMs: number): HostAnswer {
  return { kind: 'failed', why: 'asked to wait', againInMs }
}
