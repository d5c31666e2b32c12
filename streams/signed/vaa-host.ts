import { backoffMs } from '../../domain/backoff.ts'
import { readAtMost } from '../../intake/http-body.ts'
import { retryAfterMs } from './retry-after.ts'

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

/**
 * absent: it answered, and has it not. resting: it asked to be left alone, or failed lately; it was not asked. failed: no answer that can be read;
 * `why` carries nothing of the URL.
 */
export type HostAnswer =
  | { readonly kind: 'found'; readonly body: unknown }
  | { readonly kind: 'absent' }
  | { readonly kind: 'resting'; readonly forMs: number }
  | { readonly kind: 'failed'; readonly why: string }

/** One HTTP API with its manners: what it says about its limits holds for everything that this process wants of it. */
export interface VaaHost {
  readonly origin: string
  /** Never throws. @param path without a leading slash */
  ask(path: string): Promise<HostAnswer>
}

/** Of an answer: far above any VAA with what is said about it. */
const mostBytes = 2_000_000

export function createVaaHost({ url, timeoutMs, parallel, pause }: VaaHostOptions): VaaHost {
  const base = url.endsWith('/') ? url : `${url}/`
  const { origin } = new URL(base)
  const queue: (() => void)[] = []
  let active = 0
  let failures = 0
  let restUntil = 0

  function rest(ms: number | undefined): number {
    const forMs = ms ?? backoffMs(failures, pause.firstMs, pause.mostMs)
    failures++
    restUntil = Math.max(restUntil, Date.now() + forMs)
    return restUntil - Date.now()
  }

  function resting(): HostAnswer | undefined {
    const forMs = restUntil - Date.now()
    return forMs > 0 ? { kind: 'resting', forMs } : undefined
  }

  async function request(path: string): Promise<HostAnswer> {
    try {
      const signal = AbortSignal.timeout(timeoutMs)
      const response = await fetch(new URL(path, base), { signal, headers: { accept: 'application/json' }, redirect: 'error' })
      if (response.ok || response.status === 404) {
        if (!response.ok) await response.body?.cancel()
        const text = response.ok ? await readAtMost(response, mostBytes) : undefined
        // What is wrong with one question says nothing about the next.
        if (response.ok && text === undefined) return { kind: 'failed', why: 'an answer that is too long' }
        const answer: HostAnswer = text === undefined ? { kind: 'absent' } : { kind: 'found', body: JSON.parse(text) as unknown }
        failures = 0
        return answer
      }
      await response.body?.cancel()
      const asked = retryAfterMs(response.headers.get('retry-after'), Date.now())
      if (response.status === 429 || response.status === 503) return { kind: 'resting', forMs: rest(asked) }
      // What is wrong with one question says nothing about the next; what is wrong with the server does.
      if (response.status >= 500) rest(asked)
      return { kind: 'failed', why: `HTTP ${response.status}` }
    } catch (error) {
      rest(undefined)
      return { kind: 'failed', why: reasonOf(error) }
    }
  }

  return {
    origin,
    async ask(path) {
      if (active >= parallel) await new Promise<void>((resolve) => queue.push(resolve))
      else active++
      try {
        // Asked after the wait: whoever went before may have been told to stay away.
        return resting() ?? (await request(path))
      } finally {
        const next = queue.shift()
        if (next) next()
        else active--
      }
    },
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'an answer that is not JSON'
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time'
  return 'no connection'
}
