/** One answer of a batch, not looked into yet. */
export interface Answer {
  readonly id?: number | null
  readonly result?: unknown
  readonly error?: unknown
}

/** Some gateways answer a call twice. */
const mostAnswersPerCall = 2

/** The answers of a response to so many calls, in any order; undefined if it is not JSON-RPC, or has far more answers than calls. */
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

/** Methods whose errors may quote a contract: it says nothing of the batch. */
const quoting = new Set(['eth_call', 'eth_estimateGas', 'eth_sendRawTransaction'])

/**
 * Did the node refuse a batch for its size? As a whole: gateways set limits as low as 3; go-ethereum answers "batch too large" to its first call alone
 * (rpc/handler.go, respondWithBatchTooLarge). Or each call of it, in an error that no contract can have written.
 */
export function isTooLarge(
  answers: readonly Answer[] | undefined,
  status: number,
  calls: readonly { readonly id: number; readonly method: string }[],
): boolean {
  if (!answers) return status === 413 || status === 400
  const ofContracts = new Set(calls.filter(({ method }) => quoting.has(method)).map(({ id }) => id))
  const alone = answers.length === 1
  return answers.some(({ id, error }) => {
    const { message, code } = (error ?? {}) as { message?: unknown; code?: unknown }
    const says = typeof message === 'string' && /\bbatch/i.test(message)
    return says && (id == null || !ofContracts.has(id) || (alone && code === -32600))
  })
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
