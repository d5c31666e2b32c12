import type { UpdateDefinition } from '@temporalio/common'
import { WithStartWorkflowOperation } from '@temporalio/client'
import { setTimeout as delay } from 'node:timers/promises'
import { type Facts, RelayerError } from '../../../domain/catalogue/errors.ts'
import { summaryText } from '../../../domain/text/web-ui-text.ts'
import { ledgerQueue } from '../../contracts/names.ts'
import { type TemporalClient, within } from '../connection/client.ts'
import { fromTemporal, isGone, type TemporalErrorCodes, updateRefusal } from '../connection/errors.ts'

/** A workflow of the queue `ledger`, and how it comes into being. */
interface UpdateTarget {
  readonly workflowId: string
  readonly workflowType: string
  /** Input of its first run, asked for only if the workflow is not there. Absent: it must be there. */
  readonly begin?: (() => unknown) | undefined
  /** For the Web UI. */
  readonly summary: string
  readonly updateId?: string | undefined
}

/** Longest wait for what a person asks for, ms. */
export const orderTimeoutMs = 10_000
/** A run that is full is followed by the next one within a task or two, ms. */
const betweenRunsMs = 100

/**
 * Sends one update to a workflow, and starts the workflow with it if it is not there. Safe to repeat with the same update id: the server answers a repeated
 * one from what it knows. Throws what the Temporal client and `begin` throw.
 */
export async function updateOrStart<Result, Args extends [unknown]>(
  client: TemporalClient,
  update: UpdateDefinition<Result, Args>,
  args: Args,
  { workflowId, workflowType, begin, summary, updateId }: UpdateTarget,
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
    staticSummary: summaryText(summary),
  })
  return client.workflow.executeUpdateWithStart(update, { ...options, startWorkflowOperation })
}

/** Sends an update for a person, and again while the run that it meets is full. Throws INPUT_INVALID if it is refused as malformed, and as `fromTemporal`. */
export async function sendOrder<Result>(
  client: TemporalClient,
  send: () => Promise<Result>,
  codes: TemporalErrorCodes,
  facts?: Facts,
): Promise<Result> {
  const until = Date.now() + orderTimeoutMs
  for (;;) {
    try {
      return await within(client, until - Date.now(), send)
    } catch (error) {
      const refusal = updateRefusal(error)
      if (refusal?.kind === 'malformed') throw new RelayerError('INPUT_INVALID', { detail: refusal.detail, facts, cause: error })
      if (refusal?.kind !== 'full' || Date.now() > until) throw fromTemporal(error, codes, facts)
      await delay(betweenRunsMs)
    }
  }
}
