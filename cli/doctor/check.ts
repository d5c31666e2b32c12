import { setTimeout as delay } from 'node:timers/promises'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import { redactText } from '../../observability/redact.ts'
import { remedyOf } from './remedies.ts'

/** `warn`: it works, but an operator should know. */
export interface Check {
  /** temporal, chain ethereum, bridge… */
  readonly area: string
  readonly name: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly detail: string
  readonly remedy?: string
}

/** A string is the detail of a passed check. */
export type Finding = string | { readonly status: 'warn' | 'fail'; readonly detail: string; readonly remedy: string }

export function fail(detail: string, remedy: string): Finding {
  return { status: 'fail', detail, remedy }
}

export function warn(detail: string, remedy: string): Finding {
  return { status: 'warn', detail, remedy }
}

export const checkTimeoutMs = 10_000

/** An error, or no answer in time, is a failed check with a remedy. */
export async function look(area: string, name: string, at: () => Promise<Finding>): Promise<Check> {
  try {
    const late = delay(checkTimeoutMs, undefined, { ref: false }).then(() => {
      throw new Error(`no answer within ${checkTimeoutMs / 1000} s`)
    })
    const finding = await Promise.race([at(), late])
    return typeof finding === 'string' ? { area, name, status: 'ok', detail: finding } : { area, name, ...finding }
  } catch (thrown) {
    const error = toRelayerError(thrown)
    const { title, about } = error
    const detail = redactText(thrown instanceof RelayerError ? `${title} ${about === title ? '' : about}`.trim() : about)
    return { area, name, status: 'fail', detail, remedy: remedyOf(error) }
  }
}
