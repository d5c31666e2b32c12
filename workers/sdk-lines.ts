import { asLogged, isErrorCode } from '../observability/severity.ts'
import { ApplicationFailure } from '@temporalio/common'
import type { LogEntry } from '@temporalio/worker'

/** A line of the SDK as one of ours. */
export interface SdkLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly fields: Record<string, unknown>
}

const levels = { TRACE: 'debug', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const

/** Its native part tells each try of each call while Temporal is away; that it is away is told once (temporal/client/settings-watch.ts). */
const retries = 'temporalio_client::retry'

/**
 * The SDK warns, with a stack, of every step that failed. Ours fail with a code: what waits for a gate, or finds a lane full, is tried again, shows in
 * its transfer, and is no line that anybody should read.
 */
export function sdkLine({ level, message, meta = {} }: Pick<LogEntry, 'level' | 'message' | 'meta'>): SdkLine {
  // The token is a long text that tells a reader nothing that the ids beside it do not.
  const { taskToken: _, ...told } = meta as Record<string, unknown>
  const { error, ...fields } = told
  if (isByDesign(message) || fields['target'] === retries) return { level: 'debug', fields: told }
  if (error instanceof ApplicationFailure && isErrorCode(error.type)) {
    const logged = asLogged({ code: error.type, message: error.message }, error)
    return { level: logged.level, fields: { ...fields, ...logged.fields } }
  }
  return { level: levels[level], fields: told }
}

/** Queues of lanes have activities only, and the ledgers' queue has workflows only: no warning for a healthy start. */
function isByDesign(message: string): boolean {
  return /^No (activities|workflows) registered, not polling/.test(message)
}
