import type { UpdateDefinition } from '@temporalio/common'
import { WithStartWorkflowOperation } from '@temporalio/client'
import { setTimeout as delay } from 'node:timers/promises'
import { ledgerQueue } from '../contracts/names.ts'
import type { TemporalClient } from './client.ts'
import { isGone, updateRefusal } from './errors.ts'

/** A workflow of the queue `ledger`, and how it comes into being. */
export interface UpdateTarget<Input> {
  readonly workflowId: string
  readonly workflowType: string
  /** Input of its first run, asked for only if the workflow is not there. Absent: it must be there. */
  readonly begin?: (() => Input | Promise<Input>) | undefined
  /** For the Web UI. */
  readonly summary: string
  readonly updateId?: string | undefined
}

/** A run that is full is followed by the next one within a task or two, ms. */
const betweenRunsMs = 100

/**
 * Sends one update to a workflow, and starts the workflow with it if it is not there: never started, ended, or lost with a wiped Temporal. Safe to repeat
 * with the same update id: the server answers a repeated one from what it knows. Throws what the Temporal client and `begin` throw.
 */
export async function updateOrStart<Result, Args extends [unknown], Input>(
  client: TemporalClient,
  update: UpdateDefinition<Result, Args>,
  args: Args,
  { workflowId, workflowType, begin, summary, updateId }: UpdateTarget<Input>,
): Promise<Result> {
  const options = { args, ...(updateId && { updateId }) }
  try {
    return await client.workflow.getHandle(workflowId).executeUpdate(update, options)
  } catch (error) {
    if (!begin || !isGone(error)) throw error
  }
  const startWorkflowOperation = new WithStartWorkflowOperation(workflowType, {
    workflowId,
    taskQueue: ledgerQueue,
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    args: [await begin()],
    staticSummary: summary,
  })
  return client.workflow.executeUpdateWithStart(update, { ...options, startWorkflowOperation })
}

/** Sends an update again while the run that it meets is full, for at most `timeoutMs` in all. Throws what the Temporal client throws. */
export async function untilNotFull<Result>(client: TemporalClient, timeoutMs: number, send: () => Promise<Result>): Promise<Result> {
  const until = Date.now() + timeoutMs
  for (;;) {
    try {
      return await client.withDeadline(until, send)
    } catch (error) {
      if (updateRefusal(error)?.kind !== 'full' || Date.now() > until) throw error
      await delay(betweenRunsMs)
    }
  }
}
