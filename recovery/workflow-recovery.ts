import { toRelayerError } from '../domain/errors.ts'
import { badTask, type HistoryEvent, resetToBeginning } from '../temporal/client/reset-run.ts'
import type { Logger } from '../observability/logger.ts'
import type { Metrics } from '../observability/metrics.ts'
import { settingsQuery } from '../temporal/contracts/settings.ts'
import { settingsWorkflowId } from '../temporal/contracts/names.ts'
import type { Client } from '@temporalio/client'
import { QueryNotRegisteredError, WorkflowNotFoundError } from '@temporalio/client'

/** Workflows of the queue `ledger`: what they know is in their input, and in what they were told since, which a reset tells them again. */
const mended = ['lane', 'stream', 'settings', 'batch', 'operatorTransaction'] as const
type Mended = (typeof mended)[number]

/** Between two looks, ms: one query of the visibility store, and one call per open workflow of the queue. */
const everyMs = 10_000
/** A run that a reset made is let be for so long, ms: while processes of two versions share the queue, each may undo what the other did. */
const restMs = 60_000
/** So many tries of one workflow task, and it stands: the first may have met a process that was about to stop. */
const triesUntilItStands = 3
/** More, where nobody answered: a process may have stood for a while. */
const moreUnanswered = 1
/** For the server to answer one call, ms. */
const answerMs = 5_000
/** temporal.api.enums.v1.WorkflowTaskFailedCause: what the code does is not what the history says it did. */
const nonDeterministic = 24
/** A signal that nobody heeds. Its one purpose is a workflow task. */
const nudge = 'nudge'

type Standing = {
  readonly workflowId: string
  readonly runId: string
  readonly type: Mended
  readonly startedAt: number
  readonly tries: number
}

/**
 * Looks after the workflows without which lanes, streams and settings stand: one whose task fails again and again because its history fits nothing
 * that the code does (Temporal was set back under processes that remember what it lost; a deployment that does not replay) is reset to the end of
 * its first task. What it was told since, Temporal tells it once more, so that no order of an operator is lost. So is one whose tasks are taken and
 * never answered: a process that remembers what does not fit, and can't let go of that run. A task that fails for another reason is a bug, which no
 * reset heals: that is told, and nothing done. Any number of processes may do this at once. Never throws.
 */
export function startWorkflowRecovery(options: {
  client: Client
  logger: Logger
  metrics: Pick<Metrics, 'workflowsStuck' | 'workflowsReset'>
  everyMs?: number
  restMs?: number
  tries?: number
}): { stop(): Promise<void> } {
  const { client, logger, metrics, tries = triesUntilItStands } = options
  const told = new Set<string>()
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let looking = Promise.resolve()

  const consider = async (one: Standing) => {
    const { workflowId, runId, type } = one
    const events = (await client.workflow.getHandle(workflowId, runId).fetchHistory()).events ?? []
    const bad = badTask(events)
    // It was completed since it was looked at.
    if (!bad) return
    if (bad.kind === 'unanswered' && one.tries < tries + moreUnanswered) return
    const reason = bad.kind === 'failed' ? bad.reason : 'nobody answers its tasks'
    if (bad.kind === 'failed' && bad.cause !== nonDeterministic) {
      if (!told.has(runId)) logger.error('the task of a workflow fails again and again: it stands', { workflow: workflowId, reason })
      told.add(runId)
      return
    }
    const rested = Date.now() - one.startedAt >= (options.restMs ?? restMs)
    if (isOfReset(events, runId) && !rested) return
    await resetToBeginning(client, one, events, bad.kind === 'failed' ? 'its history fits nothing that the code does' : reason)
    metrics.workflowsReset.inc({ type })
    logger.error('a workflow that stood still was reset to its beginning, and told once more what it was told', {
      workflow: workflowId,
      run: runId,
      reason,
    })
  }
  const look = async () => {
    try {
      await client.withDeadline(Date.now() + answerMs, () => wakeSettings(client))
      const standing = await findStanding(client, tries, () => stopped)
      for (const type of mended) metrics.workflowsStuck.set({ type }, standing.filter((one) => one.type === type).length)
      for (const one of stopped ? [] : standing) await client.withDeadline(Date.now() + answerMs, () => consider(one))
    } catch (error) {
      logger.debug('the workflows could not be looked at', { reason: toRelayerError(error).message })
    }
    if (!stopped) timer = setTimeout(again, options.everyMs ?? everyMs)
  }
  const again = () => {
    looking = look()
  }
  again()
  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      await looking
    },
  }
}

/**
 * Settings are asked, which no history keeps, so that nobody would notice: processes that start would wait for them, halted, for ever. A signal makes
 * the failed replay a failed task.
 */
async function wakeSettings(client: Client): Promise<void> {
  const handle = client.workflow.getHandle(settingsWorkflowId)
  try {
    await handle.query(settingsQuery)
  } catch (error) {
    // The query is known to every version: a worker that refuses it could not replay.
    if (error instanceof QueryNotRegisteredError) await handle.signal(nudge)
  }
}

async function findStanding(client: Client, tries: number, isStopped: () => boolean): Promise<Standing[]> {
  const standing: Standing[] = []
  const types = mended.map((type) => `'${type}'`).join(', ')
  for await (const { workflowId, runId } of client.workflow.list({ query: `WorkflowType IN (${types}) AND ExecutionStatus = 'Running'` })) {
    if (isStopped()) break
    const found = await client.withDeadline(Date.now() + answerMs, () => describe(client, tries, workflowId, runId))
    if (found) standing.push(found)
  }
  return standing
}

/** Undefined: it is in order, or has ended. */
async function describe(client: Client, tries: number, workflowId: string, runId: string): Promise<Standing | undefined> {
  try {
    const { raw, startTime, type, status } = await client.workflow.getHandle(workflowId, runId).describe()
    const tried = raw.pendingWorkflowTask?.attempt ?? 0
    if (status.name !== 'RUNNING' || tried < tries) return undefined
    return { workflowId, runId, type: type as Mended, startedAt: startTime.getTime(), tries: tried }
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined
    throw error
  }
}

function isOfReset([first]: readonly HistoryEvent[], runId: string): boolean {
  return first?.workflowExecutionStartedEventAttributes?.originalExecutionRunId !== runId
}
