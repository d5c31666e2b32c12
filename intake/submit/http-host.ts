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
  /** Minimum pause after HTTP 429, ms. Absent: as after other failures. */
  readonly restAfter429Ms?: number
  /** Maximum bytes of an answer. Default: 2,000,000. */
  readonly mostBytes?: number
  /**
   * Maximum bytes of all answers that are being read. Requests whose answers have no room are repeated, one at a time.
   * Absent: no limit.
   */
  readonly mostBytesAtOnce?: number
}

export type HostAnswer =
  | { readonly kind: 'found'; readonly body: unknown }
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'failed'
      readonly why: string
      readonly againInMs: number
      /** The server works, but its answer to this question cannot be used. */
      readonly isOfQuestion?: boolean
      /** Other answers left no room for this one. */
      readonly isOfOthers?: boolean
    }

const afterFailureMs = 5_000

/** A client of one server. The limits apply to all its requests. */
export function createHttpHost(options: HttpHostOptions) {
  const { url, timeoutMs = 5_000, parallel, pause = { firstMs: 1_000, mostMs: 60_000 }, perSecond, restAfter429Ms = 0 } = options
  const { mostBytes = 2_000_000, mostBytesAtOnce } = options
  const budget = mostBytesAtOnce === undefined ? undefined : createByteBudget(mostBytesAtOnce)
  const base = url.endsWith('/') ? url : `${url}/`
  const turns = createTurns(parallel)
  /** Turns of requests whose answers found no room in `budget`. Each request then has a budget of its own. */
  const longTurns = createTurns(1)
  const sentAt: number[] = []
  let failures = 0
  let restUntil = 0
  let line: Promise<void> = Promise.resolve()

  function rest(asked: string | null | undefined, leastMs = 0): number {
    const now = performance.now()
    const forMs = Math.max(leastMs, retryAfterMs(asked ?? null, Date.now()) ?? backoffMs(failures, pause.firstMs, pause.mostMs))
    failures++
    restUntil = Math.max(restUntil, now + forMs)
    return restUntil - now
  }

  async function request(path: string, method: 'GET' | 'POST', room = budget): Promise<HostAnswer> {
    if (perSecond !== undefined && restUntil <= performance.now()) await (line = line.then(() => untilFree(perSecond)))
    const restMs = restUntil - performance.now()
    if (restMs > 0) return resting(restMs)
    const answer = await httpJson(new URL(path, base), { method, timeoutMs, mostBytes, budget: room })
    if (answer.kind !== 'failed') {
      failures = 0
      return answer
    }
    const { status, retryAfter, why, isOfQuestion = false, isOfOthers = false } = answer
    if (status === 429 || status === 503) return resting(rest(retryAfter, status === 429 ? restAfter429Ms : 0))
    // Later requests wait only if the server failed or did not answer.
    if (status === undefined || status >= 500) rest(retryAfter)
    return { kind: 'failed', why, againInMs: afterFailureMs, isOfQuestion, isOfOthers }
  }

  /**
   * Waits until the limit per second allows a request. Timers of a busy process fire late, and then all together, so
   * requests count when they are sent.
   */
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
      if (lateMs > timeoutMs) return resting(lateMs)
      const answer = await turns.take(() => request(path, method))
      if (answer.kind !== 'failed' || !answer.isOfOthers) return answer
      const since = performance.now()
      // Long answers are read one at a time, so that questions with short answers find free turns.
      return longTurns.take(async () => {
        const isLate = performance.now() - since > timeoutMs
        return isLate ? answer : turns.take(() => request(path, method, createByteBudget(mostBytes)))
      })
    },
  }
}

function resting(againInMs: number): HostAnswer {
  return { kind: 'failed', why: 'asked to wait', againInMs: Math.ceil(againInMs) }
}
