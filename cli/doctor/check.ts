import { setTimeout as delay } from 'node:timers/promises'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import { redactText } from '../../observability/redact.ts'
import { remedyOf } from './remedies.ts'

/** The result of one check. `warn`: it works, but an operator should know. */
export interface Check {
  /** The part of the network that was checked: temporal, chain ethereum, bridge… */
  readonly area: string
  readonly name: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly detail: string
  readonly remedy?: string
}

/** What one check found: a text if it is well, else a text and a remedy. */
export type Finding = string | { readonly status: 'warn' | 'fail'; readonly detail: string; readonly remedy: string }

export function fail(detail: string, remedy: string): Finding {
  return { status: 'fail', detail, remedy }
}

export function warn(detail: string, remedy: string): Finding {
  return { status: 'warn', detail, remedy }
}

/** Longest wait for any one answer, ms. */
export const checkTimeoutMs = 10_000

/** Runs one check. An error, or no answer in time, is a failed check with a remedy for it. */
export async function look(area: string, name: string, at: () => Promise<Finding>): Promise<Check> {
  try {
    const late = delay(checkTimeoutMs, undefined, { ref: false }).then(() => {
      throw new Error(`no answer within ${checkTimeoutMs / 1000} s`)
    })
    const finding = await Promise.race([at(), late])
    return typeof finding === 'string' ? { area, name, status: 'ok', detail: finding } : { area, name, ...finding }
  } catch (thrown) {
    const error = toRelayerError(thrown)
    // Without the remedy of its own, before anything is redacted: a remedy may look like a secret (Authorization: Bearer <token>).
    const detail = redactText((thrown instanceof Error ? thrown.message : String(thrown)).replace(` → ${error.remedy}`, ''))
    return { area, name, status: 'fail', detail, remedy: remedyOf(error) }
  }
}
