/** One answer of a batch, not looked into yet. */
export interface Answer {
  readonly id?: number | null
  readonly result?: unknown
  readonly error?: unknown
}

/** The answers of a response, in any order; undefined if it is not JSON-RPC. */
export function parseAnswers(text: string): Answer[] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const answers = Array.isArray(value) ? value : [value]
    return answers.every((answer) => typeof answer === 'object' && answer !== null && ('result' in answer || 'error' in answer))
      ? answers
      : undefined
  } catch {
    return undefined
  }
}

/** Did the node refuse a batch for its size, as a whole? Gateways set limits as low as 3; go-ethereum says "batch too large". */
export function isTooLarge(answers: readonly Answer[] | undefined, status: number): boolean {
  if (!answers) return status === 413 || status === 400
  return answers.some(({ error }) => /\bbatch/i.test((error as { message?: string } | undefined)?.message ?? ''))
}

/** Retry-After in ms: seconds, or a date (RFC 9110, 10.2.3); undefined where there is none that makes sense. */
export function readRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return ms > 0 ? ms : undefined
}

/** Some gateways put a bare string where the error object belongs. */
export function readError(error: unknown, redact: (text: string) => string): { code?: number; message: string; data?: unknown } {
  if (typeof error !== 'object' || error === null) return { message: redact(String(error)) }
  const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown }
  return {
    ...(typeof code === 'number' && { code }),
    message: redact(typeof message === 'string' && message ? message : 'the node gave no reason'),
    ...(data !== undefined && { data: redactDeep(data, redact) }),
  }
}

/** Gateways put whole requests into `data`. */
function redactDeep(data: unknown, redact: (text: string) => string): unknown {
  if (typeof data === 'string') return redact(data)
  if (Array.isArray(data)) return data.map((item) => redactDeep(item, redact))
  if (typeof data !== 'object' || data === null) return data
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [redact(name), redactDeep(value, redact)]))
}
