import { toRelayerError } from '../../domain/errors.ts'
import { redactText } from '../../observability/redact.ts'

/** One thing that the doctor looked at. `warn`: it works, but somebody should know. */
export interface Check {
  /** temporal, chain ethereum, bridge…: what it belongs to. */
  readonly area: string
  readonly name: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly detail: string
  readonly remedy?: string
}

/** What a look at one thing finds: a text if it is well, or a text and what to do. */
export type Finding = string | { readonly status: 'warn' | 'fail'; readonly detail: string; readonly remedy: string }

/** Longest wait for any one answer, ms. */
export const checkTimeoutMs = 10_000

/** Runs one look. What it throws, or does not answer in time, is a failed check with the error's own remedy. */
export async function look(area: string, name: string, at: () => Promise<Finding>): Promise<Check> {
  try {
    const finding = await withTimeout(at())
    return typeof finding === 'string' ? { area, name, status: 'ok', detail: finding } : { area, name, ...finding }
  } catch (thrown) {
    const error = toRelayerError(thrown)
    const detail = redactText(thrown instanceof Error ? thrown.message : String(thrown)).replace(` → ${error.remedy}`, '')
    return { area, name, status: 'fail', detail, remedy: error.remedy }
  }
}

async function withTimeout<Value>(work: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${checkTimeoutMs / 1000} s`)), checkTimeoutMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
