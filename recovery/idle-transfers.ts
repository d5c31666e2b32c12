import type { Client } from '@temporalio/client'
import { WorkflowNotFoundError } from '@temporalio/common'
import type { ChainName } from '../domain/transfer/transfer.ts'
import { searchAttributes } from '../temporal/contracts/names.ts'
import { badTask, type HistoryEvent, resetToBeginning } from '../temporal/client/reset-run.ts'

/** Descriptions that are asked for at a time. */
const atOnce = 20
/** What has done something within so long, ms, may be between two tasks. */
const restMs = 20_000
/** So many tries of one workflow task, of which none was answered: that is no process that was about to stop, nor one that stood for a while. */
const triesUnanswered = 3

/** A running transfer that stands still, with its history. */
export interface IdleRun {
  readonly workflowId: string
  readonly runId: string
  readonly events: readonly HistoryEvent[]
  /** For the Web UI. */
  readonly why: string
}

/**
 * Transfers that run and stand still. No code of ours leaves one so, but a Temporal that was set back under a process does. Either they wait for
 * nothing, no task, no step, no timer: the process remembers a timer of the lost future, and waits for it for ever. Or a process takes their tasks and
 * answers none: what it remembers does not fit, and it can't let go of it. Parked ones wait for an operator. Its methods throw what the Temporal client
 * throws.
 */
export interface IdleTransfers {
  /** @param before only those that were started before this, ms since the epoch */
  find(chain: ChainName, before: number): Promise<IdleRun[]>
  startOver(run: IdleRun): Promise<void>
}

export function createIdleTransfers(client: Client, quietMs = restMs): IdleTransfers {
  return {
    async find(chain, before) {
      const { TargetChain, TransferState } = searchAttributes
      const query = [
        `WorkflowType = 'transfer' AND ExecutionStatus = 'Running'`,
        `${TargetChain.name} = '${chain}' AND ${TransferState.name} != 'parked'`,
        `StartTime < '${new Date(before).toISOString()}'`,
      ].join(' AND ')
      const found: IdleRun[] = []
      let some: Promise<IdleRun | undefined>[] = []
      const settle = async () => {
        found.push(...(await Promise.all(some)).filter((run) => run !== undefined))
        some = []
      }
      for await (const { workflowId, runId } of client.workflow.list({ query })) {
        some.push(lookAt(client, workflowId, runId, Date.now() - quietMs))
        if (some.length >= atOnce) await settle()
      }
      await settle()
      return found
    },
    startOver: (run) => resetToBeginning(client, run, run.events, run.why),
  }
}

async function lookAt(client: Client, workflowId: string, runId: string, quietSince: number): Promise<IdleRun | undefined> {
  const handle = client.workflow.getHandle(workflowId, runId)
  try {
    const { status, raw, typedSearchAttributes } = await handle.describe()
    // The server's own word: the list lags.
    if (status.name !== 'RUNNING' || typedSearchAttributes.get(searchAttributes.TransferState) === 'parked') return undefined
    const { pendingWorkflowTask: task, pendingActivities: steps } = raw
    if (task ? (task.attempt ?? 0) < triesUnanswered : (steps ?? []).length > 0) return undefined
    const events = (await handle.fetchHistory()).events ?? []
    if (task) return badTask(events)?.kind === 'unanswered' ? { workflowId, runId, events, why: 'nobody answered its tasks' } : undefined
    return isIdle(events, quietSince) ? { workflowId, runId, events, why: 'it waited for nothing' } : undefined
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined
    throw error
  }
}

/** Nothing has happened since then, and no timer runs. */
export function isIdle(events: readonly HistoryEvent[], quietSince: number): boolean {
  const timers = new Set<string>()
  for (const { timerStartedEventAttributes: started, timerFiredEventAttributes: fired, timerCanceledEventAttributes: canceled } of events) {
    if (started?.timerId) timers.add(started.timerId)
    timers.delete(fired?.timerId ?? canceled?.timerId ?? '')
  }
  const last = events.at(-1)
  const at = Number(last?.eventTime?.seconds ?? 0) * 1_000
  return last?.workflowTaskCompletedEventAttributes != null && timers.size === 0 && at < quietSince
}
