import { asLogged, isErrorCode } from '../observability/severity.ts'
import { ApplicationFailure } from '@temporalio/common'
import type { LogEntry } from '@temporalio/worker'

const levels = { TRACE: 'debug', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const

/** The queues of lanes have only activities, and the queue `ledger` has only workflows: the SDK warns of both at every start. */
const byDesign = /^No (activities|workflows) registered, not polling/

/** The target of the lines about every retry of every call while Temporal is away; the outage itself is logged once (temporal/client/settings-watch.ts). */
const retries = 'temporalio_client::retry'

/**
 * The SDK warns, with a stack, of every activity that failed. Ours fail with a code, and many of them as designed (a closed gate, a full lane): they are
 * retried, show in their transfer, and are logged at the level of their code.
 */
export function sdkLine({ level, message, meta = {} }: Pick<LogEntry, 'level' | 'message' | 'meta'>) {
  // The token is long, and says nothing beside the ids.
  const { taskToken: _, ...told } = meta as Record<string, unknown>
  const { error, ...fields } = told
  if (byDesign.test(message) || fields['target'] === retries) return { level: 'debug' as const, fields: told }
  if (error instanceof ApplicationFailure && isErrorCode(error.type)) {
    const logged = asLogged({ code: error.type, message: error.message }, error)
    return { level: logged.level, fields: { ...fields, ...logged.fields } }
  }
  return { level: levels[level], fields: told }
}
