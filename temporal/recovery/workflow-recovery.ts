import { toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { eachWorkflow, type TemporalClient, within } from '../client/connection/client.ts'
import { isForAll } from '../client/connection/errors.ts'
import { describeOpenRun, type HistoryEvent, type OpenRun, readHistory } from '../client/visibility/runs.ts'
import { ledgerWorkflows } from '../contracts/names.ts'
import { type Service, startPolling } from '../../runtime/wait.ts'
import { diagnoseTask, recover } from './remedies.ts'

const everyMs = 10_000
/**
 * Minimum time between two resets of a workflow. Without this pause, two versions on one queue could undo each other's
 * resets again and again.
 */
const restMs = 60_000
/**
 * Failed tries of a task after which its workflow counts as stuck. Fewer tries may have failed because a process ended.
 */
const triesUntilStuck = 3
/** Further tries of a task that nobody answers, because a process may only have been paused. */
const moreUnanswered = 1
const answerMs = 5_000

export interface WorkflowRecoveryOptions {
  readonly client: TemporalClient
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'portage_workflows_stuck' | 'portage_workflows_reset_total'>
  readonly everyMs?: number
  readonly restMs?: number
  readonly tries?: number
}

export function startWorkflowRecovery(options: WorkflowRecoveryOptions): Service {
  const { client, logger, metrics, tries = triesUntilStuck } = options
  const logged = new Set<string>()
  // A counter that begins at 0 lets an alert on growth notice the first count.
  for (const type of ledgerWorkflows) metrics.portage_workflows_reset_total.inc({ type }, 0)

  const check = async (signal: AbortSignal) => {
    const stuck = await findStuck(client, tries, signal)
    for (const type of ledgerWorkflows) metrics.portage_workflows_stuck.set({ type }, stuck.filter((one) => one.type === type).length)
    for (const one of signal.aborted ? [] : stuck)
      await within(client, answerMs, () => treat(one)).catch((error: unknown) => leave(one, error))
  }
  const treat = async (run: OpenRun) => {
    const { workflowId: workflow, runId, type, startedAt, taskTries = 0 } = run
    const events = await readHistory(client, run)
    const diagnosis = diagnoseTask(events)
    if (!diagnosis || (diagnosis.finding === 'unanswered' && taskTries < tries + moreUnanswered)) return
    const { finding, reason } = diagnosis
    if (isMadeByReset(events, runId) && Date.now() - startedAt < (options.restMs ?? restMs) && finding !== 'failing') return
    if (await recover(client, run, finding)) {
      metrics.portage_workflows_reset_total.inc({ type })
      const facts = { code: 'WORKFLOW_RESET', workflow, run: runId, reason } as const
      logger.error('a stuck workflow was reset to its first task, and gets its signals and updates again', facts)
    } else if (!logged.has(runId)) {
      logged.add(runId)
      logger.error('the task of a workflow fails repeatedly: it is stuck', { code: 'WORKFLOW_STUCK', workflow, reason })
    }
  }
  /** Skips a run that cannot be reset, because anyone can start such a run. Throws errors that concern all runs. */
  const leave = ({ workflowId: workflow, runId }: OpenRun, error: unknown) => {
    if (isForAll(error)) throw error
    if (logged.has(runId)) return
    logged.add(runId)
    const facts = { code: 'RUN_UNRECOVERED', workflow, run: runId, reason: toRelayerError(error).message } as const
    logger.warn('a run cannot be started again or reset', facts)
  }
  const onError = (error: unknown) => logger.debug('the workflows could not be inspected', { reason: toRelayerError(error).message })
  return startPolling(check, { everyMs: options.everyMs ?? everyMs, onError })
}

async function findStuck(client: TemporalClient, tries: number, signal: AbortSignal): Promise<OpenRun[]> {
  const stuck: OpenRun[] = []
  const query = `WorkflowType IN (${ledgerWorkflows.map((type) => `'${type}'`).join(', ')}) AND ExecutionStatus = 'Running'`
  for await (const run of eachWorkflow(client, query)) {
    if (signal.aborted) break
    const open = await within(client, answerMs, () => describeOpenRun(client, run))
    if (open?.taskTries !== undefined && open.taskTries >= tries) stuck.push(open)
  }
  return stuck
}

function isMadeByReset([first]: readonly HistoryEvent[], runId: string): boolean {
  return first?.workflowExecutionStartedEventAttributes?.originalExecutionRunId !== runId
}
