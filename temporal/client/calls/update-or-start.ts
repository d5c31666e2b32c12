import type { UpdateDefinition } from '@temporalio/common'
import { WithStartWorkflowOperation } from '@temporalio/client'
import { type Facts, RelayerError } from '../../../domain/catalogue/errors.ts'
import { summaryText } from '../../../domain/text/web-ui-text.ts'
import { pause } from '../../../runtime/wait.ts'
import { ledgerQueue } from '../../contracts/names.ts'
import { type TemporalClient, within } from '../connection/client.ts'
import { fromTemporal, isGone, type TemporalErrorCodes, updateRefusal } from '../connection/errors.ts'

/** A workflow of the queue `ledger`. */
interface UpdateTarget {
  readonly workflowId: string
  readonly workflowType: string
  /** Makes the input of the first run. Absent: the workflow must be there. */
  readonly begin?: (() => unknown) | undefined
  /** For the Web UI. */
  readonly summary: string
  readonly updateId?: string | undefined
}

/** Longest wait for an operator's order, ms. */
export const orderTimeoutMs = 10_000
/** Wait for the next run after one that is full, ms. It takes a task or two. */
const betweenRunsMs = 100

/**
 * Sends an update to a workflow, and starts the workflow if it is not there. The server answers a repeated update id
 * without applying it again. Throws what the Temporal client and `begin` throw.
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

/**
 * Sends an operator's update, and repeats it while the run is full. Throws INPUT_INVALID for a malformed update, and as
 * `fromTemporal`.
 */
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
      await pause(betweenRunsMs)
    }
  }
}
