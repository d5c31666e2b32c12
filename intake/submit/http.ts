import { AnswerTooLong, fetchBounded } from '../../runtime/http/fetch-bounded.ts'

export interface HttpOptions {
  readonly timeoutMs: number
  readonly mostBytes: number
  readonly method?: 'GET' | 'PUT' | 'POST'
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** `status` is absent if no answer came, or no JSON. `why` contains no URL, because URLs may contain keys. */
export type HttpAnswer<Body> =
  | { readonly kind: 'found'; readonly body: Body }
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed'; readonly why: string; readonly status?: number; readonly retryAfter?: string | null }

/** Follows no redirects. Never throws. */
export async function httpText(url: URL, { timeoutMs, mostBytes, ...init }: HttpOptions): Promise<HttpAnswer<string>> {
  try {
    const { ok, status, headers, text } = await fetchBounded(url, init, { timeoutMs, mostBytes })
    if (ok) return { kind: 'found', body: text }
    if (status >= 300 && status < 400) return { kind: 'failed', why: 'a redirect', status }
    return status === 404 ? { kind: 'absent' } : { kind: 'failed', why: `HTTP ${status}`, status, retryAfter: headers.get('retry-after') }
  } catch (error) {
    if (error instanceof AnswerTooLong) return { kind: 'failed', why: 'an answer that is too long', status: 200 }
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    return { kind: 'failed', why: isLate ? 'no answer in time' : 'no connection' }
  }
}

export async function httpJson(url: URL, options: HttpOptions): Promise<HttpAnswer<unknown>> {
  const answer = await httpText(url, { ...options, headers: { accept: 'application/json', ...options.headers } })
  if (answer.kind !== 'found') return answer
  try {
    return { kind: 'found', body: JSON.parse(answer.body) as unknown }
  } catch {
    return { kind: 'failed', why: 'an answer that is not JSON' }
  }
}
