import type { PendingCall } from './merge-calls.ts'
import { quotesContracts } from './node-errors.ts'

export interface Answer {
  readonly id?: number | null
  readonly result?: unknown
  readonly error?: unknown
}

/** Maximum number of answers per call. It is not 1, because some gateways answer a call twice. */
const mostAnswersPerCall = 2

/**
 * Whether a JSON text may have more than `most` values. Counts commas and brackets, because parsing a hostile text may
 * take too much memory.
 */
export function hasMoreValues(text: string, most: number): boolean {
  let count = 0
  for (let at = 0; at < text.length && text.length > most; at++) {
    const sign = text.charCodeAt(at)
    if (sign === 44 || sign === 91 || sign === 123) count++
  }
  return count > most
}

export function parseAnswers(text: string, calls: number): Answer[] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const answers = Array.isArray(value) ? value : [value]
    if (answers.length > calls * mostAnswersPerCall) return undefined
    return answers.every((answer) => typeof answer === 'object' && answer !== null && ('result' in answer || 'error' in answer))
      ? answers
      : undefined
  } catch {
    return undefined
  }
}

/** Whether a node refused the batch because of its size (go-ethereum rpc/handler.go, respondWithBatchTooLarge). */
export function isTooLarge(answers: readonly Answer[] | undefined, status: number, calls: readonly Pick<PendingCall, 'id' | 'method'>[]) {
  if (!answers) return status === 413 || status === 400
  const ofContracts = new Set(calls.filter(({ method }) => quotesContracts(method)).map(({ id }) => id))
  const alone = answers.length === 1
  return answers.some(({ id, error }) => {
    const { message, code } = (error ?? {}) as { message?: unknown; code?: unknown }
    const says = typeof message === 'string' && /\bbatch/i.test(message)
    return says && (id == null || !ofContracts.has(id) || (alone && code === -32600))
  })
}

/** Maximum length of a kept error of a node, in characters. A search for secrets in 30 MiB would take a second. */
const mostErrorText = 65_536

export function readError(
  error: unknown,
  clean: (text: string) => string,
): { readonly code?: number; readonly message: string; readonly data?: unknown } {
  let left = mostErrorText
  const redact = (text: string) => {
    const kept = text.slice(0, left)
    left -= kept.length
    return clean(kept)
  }
  if (typeof error !== 'object' || error === null) return { message: redact(String(error)) }
  const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown }
  return {
    ...(typeof code === 'number' && { code }),
    message: redact(typeof message === 'string' && message ? message : 'the node gave no reason'),
    ...(data !== undefined && { data: redactDeep(data, redact) }),
  }
}

function redactDeep(data: unknown, redact: (text: string) => string): unknown {
  if (typeof data === 'string') return redact(data)
  if (Array.isArray(data)) return data.map((item) => redactDeep(item, redact))
  if (typeof data !== 'object' || data === null) return data
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [redact(name), redactDeep(value, redact)]))
}

/**
 * Maximum number of calls in a batch: the smallest default of chainlink-evm (for Polygon), which every provider
 * accepts.
 */
const mostCalls = 100
const growEveryMs = 60_000

/** Halves the batch size after a refusal, and doubles it every minute. `now` returns monotonic ms. */
export function createBatchSize(now: () => number) {
  let size = mostCalls
  let changedAt = 0
  return {
    get size(): number {
      while (size < mostCalls && now() - changedAt >= growEveryMs) {
        size = Math.min(mostCalls, size * 2)
        changedAt += growEveryMs
      }
      return size
    },
    refused(calls: number): void {
      size = Math.max(1, Math.min(size, Math.ceil(calls / 2)))
      changedAt = now()
    },
  }
}

/**
 * Returns a function that removes the secrets of a node's URL (credentials, path, query values) and of its header from
 * a text. A host without its path is no secret.
 */
export function createRedactor(url: URL, authorization = ''): (text: string) => string {
  const parts = [
    authorization,
    ...credentialsOf(authorization),
    url.href,
    decode(url.password),
    url.password,
    decode(url.username),
    url.username,
    url.pathname + url.search,
    url.pathname,
    url.search,
    ...url.pathname.split('/').flatMap((segment) => (segment.length >= 8 ? [segment, decode(segment)] : [])),
    ...url.search.split(/[?&=]/),
    ...url.searchParams.values(),
  ]
  const secrets = [...new Set(parts)].filter((part) => part.length >= 4).sort((a, b) => b.length - a.length)
  return (text) => secrets.reduce((clean, secret) => clean.replaceAll(secret, '[redacted]'), text).replace(userInfo, '//[redacted]@')
}

/** Matches the user info in any URL, because a gateway may quote the URL of another node. */
const userInfo = /\/\/[^\s/@]+@/g

function credentialsOf(authorization: string): string[] {
  const [scheme = '', ...values] = authorization.trim().split(/\s+/)
  const given = values.length === 0 ? [scheme] : values
  const basic = given.map((value) => Buffer.from(value, 'base64').toString()).filter((text) => text.includes(':'))
  const pairs = (/^basic$/i.test(scheme) ? basic : []).flatMap((pair) => [
    pair,
    pair.slice(pair.indexOf(':') + 1),
    pair.split(':')[0] ?? '',
  ])
  return [...given, ...given.flatMap((value) => /^[\w-]+="?([^",;=]+)/.exec(value)?.[1] ?? []), ...pairs]
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
