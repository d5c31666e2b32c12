import type { UpdateDefinition } from '@temporalio/common'
import { WithStartWorkflowOperation } from '@temporalio/client'
import { type Facts, RelayerError } from '../../../domain/catalogue/errors.ts'
import { summaryText } from '../../../domain/text/web-ui-text.ts'
import { pause } from '../../../runtime/wait.ts'
import { ledgerQueue } from '../../contracts/names.ts'
import { type TemporalClient, within } from '../connection/client.ts'
import { fromTemporal, isGone, type TemporalErrorCodes, updateRefusal } from '../connection/errors.ts'

interface UpdateTarget {
  readonly workflowId: string
  readonly workflowType: string
  /** Absent: the workflow must be there. */
  readonly begin?: (() => unknown) | undefined
  /** For the Web UI. */
  readonly summary: string
  readonly updateId?: string | undefined
}

export const orderTimeoutMs = 10_000
/** Wait for the next run after a full one, ms. */
const betweenRunsMs = 100

/** Sends an update; starts the workflow if needed. A repeated update id is applied once. Throws the client's errors. */
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

/** Repeats an operator's update while the run is full. Throws INPUT_INVALID if malformed, and as `fromTemporal`. */
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
