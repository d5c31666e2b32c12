import { QueryNotRegisteredError } from '@temporalio/client'
import type { QueryDefinition } from '@temporalio/common'
import type { TemporalClient } from '../connection/client.ts'

/**
 * Queries a workflow of the queue `ledger`. If no worker can replay it, sends a signal without a handler: its task
 * fails, which recovery finds in the history. A failed query leaves nothing there. Throws what the query throws.
 */
export async function queryOrWake<Result>(client: TemporalClient, workflowId: string, query: QueryDefinition<Result>): Promise<Result> {
  try {
    return await client.workflow.getHandle(workflowId).query(query)
  } catch (error) {
    // Every build has these queries, so a worker without one cannot replay the workflow.
    if (error instanceof QueryNotRegisteredError) await wake(client, workflowId).catch(() => {})
    throw error
  }
}

/** Sends no signal while a task is pending: one is enough for all processes. */
async function wake(client: TemporalClient, workflowId: string): Promise<void> {
  const handle = client.workflow.getHandle(workflowId)
  const { status, raw } = await handle.describe()
  if (status.name === 'RUNNING' && !raw.pendingWorkflowTask) await handle.signal('wake')
}
