import type { QueryDefinition, UpdateDefinition } from '@temporalio/common'
import { QueryNotRegisteredError, WithStartWorkflowOperation, type WorkflowHandle, type WorkflowStartOptions } from '@temporalio/client'
import { type Facts, RelayerError } from '../../../domain/catalogue/errors.ts'
import { type Order, orderLimits } from '../../../domain/order.ts'
import { summaryText } from '../../../domain/text/web-ui-text.ts'
import { redactText } from '../../../observability/redact.ts'
import { pause } from '../../../runtime/wait.ts'
import { ledgerQueue } from '../../contracts/names.ts'
import { type TemporalClient, within } from '../connection/client.ts'
import { fromTemporal, ifAlreadyStarted, isGone, type TemporalErrorCodes, updateRefusal } from '../connection/errors.ts'

/**
 * Returns the order with secrets removed from its reason. Throws INPUT_INVALID if the name or the reason is missing or
 * too long.
 */
export function checkedOrder({ by, reason }: Order): Order {
  return { by: checked('by', by), reason: redactText(checked('reason', reason)) }
}

function checked(field: keyof Order, text: string): string {
  const trimmed = text.trim()
  const longest = orderLimits[field]
  if (trimmed === '') throw new RelayerError('INPUT_INVALID', { detail: `${field}: must be a text: every order has a name and a reason` })
  if (trimmed.length > longest) throw new RelayerError('INPUT_INVALID', { detail: `${field}: must have at most ${longest} characters` })
  return trimmed
}

/** False if the policies of `options` or an open run forbid the start. */
export function startUnlessTaken(
  { workflow }: TemporalClient,
  type: string,
  options: Omit<WorkflowStartOptions, 'taskQueue'>,
): Promise<boolean> {
  // USE_EXISTING would not show whether this process started the run.
  const started = workflow.start(type, { taskQueue: ledgerQueue, workflowIdConflictPolicy: 'FAIL', ...options })
  return started.then(() => true, ifAlreadyStarted(false))
}

/**
 * Queries a workflow. If the worker cannot replay the workflow, also sends a signal, whose task then fails, so that
 * recovery finds the workflow.
 */
export async function queryOrWake<Result>(client: TemporalClient, workflowId: string, query: QueryDefinition<Result>): Promise<Result> {
  const handle = client.workflow.getHandle(workflowId)
  try {
    return await handle.query(query)
  } catch (error) {
    if (error instanceof QueryNotRegisteredError) await wake(handle).catch(() => {})
    throw error
  }
}

async function wake(handle: WorkflowHandle): Promise<void> {
  const { status, raw } = await handle.describe()
  if (status.name === 'RUNNING' && !raw.pendingWorkflowTask) await handle.signal('wake')
}

interface UpdateTarget {
  readonly workflowId: string
  readonly workflowType: string
  /** Makes the input of a new workflow. Absent: the workflow must exist. */
  readonly begin?: (() => unknown) | undefined
  readonly summary: string
  readonly updateId?: string | undefined
}

export const orderTimeoutMs = 10_000
const betweenRunsMs = 100

/** Updates with the same `updateId` are applied once. */
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

/** Repeats the order while a full run refuses it. Throws INPUT_INVALID and the errors of `fromTemporal`. */
export async function sendOrder<Result>(
  client: TemporalClient,
  send: () => Promise<Result>,
  codes: TemporalErrorCodes,
  facts?: Facts,
): Promise<Result> {
  const until = performance.now() + orderTimeoutMs
  for (;;) {
    try {
      return await within(client, until - performance.now(), send)
    } catch (error) {
      const refusal = updateRefusal(error)
      if (refusal?.kind === 'malformed') throw new RelayerError('INPUT_INVALID', { detail: refusal.detail, facts, cause: error })
      if (refusal?.kind !== 'full' || performance.now() > until) throw fromTemporal(error, codes, facts)
      await pause(betweenRunsMs)
    }
  }
}
