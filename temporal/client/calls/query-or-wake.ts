import { QueryNotRegisteredError } from '@temporalio/client'
import type { QueryDefinition } from '@temporalio/common'
import type { TemporalClient } from '../connection/client.ts'

/**
 * Queries a workflow of the queue `ledger`. A failed query leaves nothing in the history for recovery to find: if no worker can replay the workflow, it gets
 * a signal without a handler, whose task fails. Throws what the query throws.
 */
export async function queryOrWake<Result>(client: TemporalClient, workflowId: string, query: QueryDefinition<Result>): Promise<Result> {
  try {
    return await client.workflow.getHandle(workflowId).query(query)
  } catch (error) {
    // Every build has these queries: a worker that does not know one cannot replay the workflow.
    if (error instanceof QueryNotRegisteredError) await wake(client, workflowId).catch(() => {})
    throw error
  }
}

/** Not while a task of it is tried: one signal is enough, however many processes query. */
async function wake(client: TemporalClient, workflowId: string): Promise<void> {
  const handle = client.workflow.getHandle(workflowId)
  const { status, raw } = await handle.describe()
  if (status.name === 'RUNNING' && !raw.pendingWorkflowTask) await handle.signal('wake')
}
