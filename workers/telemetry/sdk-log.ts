import type { WarningFields } from '../../observability/logger.ts'
import type { Code } from '../../domain/catalogue/catalogue.ts'
import { isErrorCode } from '../../domain/catalogue/errors.ts'
import { asLogged } from '../../observability/severity.ts'
import { ApplicationFailure } from '@temporalio/common'
import type { LogEntry, Logger } from '@temporalio/worker'

const levels = { TRACE: 'debug', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const

/** Queues of lanes have only activities, the queue `ledger` only workflows. The SDK warns of both. */
const byDesign = /^No (activities|workflows) registered, not polling/

/** Target of the lines about every retry while Temporal is away. temporal/client/settings logs the outage once. */
const retries = 'temporalio_client::retry'

/** Fields that the SDK adds to each line of a workflow. The transfer's id is the workflow's. */
const ofWorkflow = ['namespace', 'taskQueue', 'workflowId', 'workflowType', 'sdkComponent'] as const

type SdkLine =
  | { readonly level: 'debug'; readonly fields: Record<string, unknown> }
  | { readonly level: 'info'; readonly fields: Record<string, unknown> }
  | { readonly level: 'warn' | 'error'; readonly fields: WarningFields }

/** Failed activities of Portage are logged at the level of their code: the SDK warns of every one. */
export function sdkLine({ level, message, meta = {} }: Pick<LogEntry, 'level' | 'message' | 'meta'>): SdkLine {
  // The token is long and useless.
  const { taskToken: _, ...given } = meta as Record<string, unknown>
  const { error, ...fields } = given
  if (given['sdkComponent'] === 'workflow' && typeof given['transfer'] === 'string') return transferLine(level, given)
  if (byDesign.test(message) || fields['target'] === retries) return { level: 'debug' as const, fields: given }
  if (error instanceof ApplicationFailure && isErrorCode(error.type)) {
    const logged = asLogged({ code: error.type, message: error.message }, error)
    return { level: logged.level, fields: { ...fields, ...logged.fields } }
  }
  const shown = levels[level]
  if (shown === 'debug') return { level: shown, fields: given }
  // An error that reached the SDK has no known code.
  return { level: shown, fields: { code: error === undefined ? 'TEMPORAL_SDK' : 'INTERNAL', ...given } }
}

function transferLine(level: LogEntry['level'], given: Record<string, unknown>): SdkLine {
  const { runId, ...fields } = Object.fromEntries(
    Object.entries(given).filter(([name]) => !(ofWorkflow as readonly string[]).includes(name)),
  )
  if (level !== 'WARN') return { level: 'info', fields: { ...fields, run_id: runId } }
  return { level: 'warn', fields: { ...fields, code: (fields['code'] ?? 'INTERNAL') as Code, run_id: runId } }
}

/** Drops the SDK's lines below INFO: some twenty per transfer, which the runtime would stamp, keep and sort. */
export function dropDetails(collector: Pick<Logger, 'trace' | 'debug'>): void {
  collector.trace = collector.debug = () => {}
}
