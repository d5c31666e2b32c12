import { AnswerTooLong, AnswerTooSlow, type ByteBudget, fetchBounded } from '../../runtime/http/fetch-bounded.ts'

export interface HttpOptions {
  readonly timeoutMs: number
  readonly mostBytes: number
  readonly budget?: ByteBudget | undefined
  readonly method?: 'GET' | 'PUT' | 'POST'
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * `status` is absent if no answer came, or no JSON. `why` contains no URL, because URLs may contain keys.
 * `isOfQuestion`: the server works, but its answer to this question cannot be used. `isOfOthers`: other answers have
 * taken the byte budget.
 */
export type HttpAnswer<Body> =
  | { readonly kind: 'found'; readonly body: Body }
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'failed'
      readonly why: string
      readonly status?: number
      readonly retryAfter?: string | null
      readonly isOfQuestion?: boolean
      readonly isOfOthers?: boolean
    }

/** Statuses that concern only one question: bad request, gone, too large (three kinds), and unprocessable. */
const statusesOfQuestions: readonly number[] = [400, 410, 413, 414, 422, 431]

/** Sends a request. Does not follow redirects. Never throws. */
export async function httpText(url: URL, { timeoutMs, mostBytes, budget, ...init }: HttpOptions): Promise<HttpAnswer<string>> {
  try {
    const { ok, status, headers, text } = await fetchBounded(url, init, { timeoutMs, mostBytes, budget })
    if (ok) return { kind: 'found', body: text }
    if (status >= 300 && status < 400) return { kind: 'failed', why: 'a redirect', status }
    if (status === 404) return { kind: 'absent' }
    const isOfQuestion = statusesOfQuestions.includes(status)
    return { kind: 'failed', why: `HTTP ${status}`, status, retryAfter: headers.get('retry-after'), isOfQuestion }
  } catch (error) {
    if (error instanceof AnswerTooLong) {
      const { isOfOthers } = error
      const why = isOfOthers ? 'too many long answers at once' : 'an answer that is too long'
      return { kind: 'failed', why, status: 200, isOfQuestion: true, isOfOthers }
    }
    // Strangers choose the length of some answers, so a slow answer says nothing about the server.
    if (error instanceof AnswerTooSlow)
      return { kind: 'failed', why: 'an answer that does not end in time', status: 200, isOfQuestion: true }
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
