import type { WarningFields } from '../../observability/logger.ts'
import type { Code } from '../../domain/catalogue/catalogue.ts'
import { isErrorCode } from '../../domain/catalogue/errors.ts'
import { asLogged } from '../../observability/severity.ts'
import { ApplicationFailure } from '@temporalio/common'
import type { LogEntry, Logger } from '@temporalio/worker'

const levels = { TRACE: 'debug', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const

/** The queues of lanes have only activities, and the queue `ledger` has only workflows: the SDK warns of both at every start. */
const byDesign = /^No (activities|workflows) registered, not polling/

/** The target of the lines about every retry of every call while Temporal is away; the outage itself is logged once (temporal/client/settings/settings-watch.ts). */
const retries = 'temporalio_client::retry'

/** What the SDK adds to each line of a workflow; the transfer's id is the workflow's. */
const ofWorkflow = ['namespace', 'taskQueue', 'workflowId', 'workflowType', 'sdkComponent'] as const

/** How a line of the SDK is written. */
type SdkLine =
  | { readonly level: 'debug'; readonly fields: Record<string, unknown> }
  | { readonly level: 'info'; readonly fields: Record<string, unknown> }
  | { readonly level: 'warn' | 'error'; readonly fields: WarningFields }

/**
 * The SDK warns, with a stack, of every activity that failed. Ours fail with a code, and many of them as designed (a closed gate, a full lane): they are
 * retried, show in their transfer, and are logged at the level of their code.
 */
export function sdkLine({ level, message, meta = {} }: Pick<LogEntry, 'level' | 'message' | 'meta'>): SdkLine {
  // The token is long, and says nothing beside the ids.
  const { taskToken: _, ...told } = meta as Record<string, unknown>
  const { error, ...fields } = told
  if (told['sdkComponent'] === 'workflow' && typeof told['transfer'] === 'string') return transferLine(level, told)
  if (byDesign.test(message) || fields['target'] === retries) return { level: 'debug' as const, fields: told }
  if (error instanceof ApplicationFailure && isErrorCode(error.type)) {
    const logged = asLogged({ code: error.type, message: error.message }, error)
    return { level: logged.level, fields: { ...fields, ...logged.fields } }
  }
  const shown = levels[level]
  if (shown === 'debug') return { level: shown, fields: told }
  // What the SDK says of itself has no code of ours; an error that reached it is none that we know.
  return { level: shown, fields: { code: error === undefined ? 'TEMPORAL_SDK' : 'INTERNAL', ...told } }
}

/** A line of a transfer (workflows/transfer/log.ts), at its own level; the logger adds the remedy of its code where it needs a person. */
function transferLine(level: LogEntry['level'], told: Record<string, unknown>): SdkLine {
  const { runId, ...fields } = Object.fromEntries(
    Object.entries(told).filter(([name]) => !(ofWorkflow as readonly string[]).includes(name)),
  )
  if (level !== 'WARN') return { level: 'info', fields: { ...fields, run_id: runId } }
  return { level: 'warn', fields: { ...fields, code: (fields['code'] ?? 'INTERNAL') as Code, run_id: runId } }
}

/**
 * Drops what the SDK says below INFO, which is not shown: some twenty lines per transfer, each of which the runtime would stamp, keep for 100 ms and sort among
 * those of its native part, with all that the line is about.
 */
export function dropDetails(collector: Pick<Logger, 'trace' | 'debug'>): void {
  collector.trace = collector.debug = () => {}
}
