import { QueryNotRegisteredError } from '@temporalio/client'
import type { QueryDefinition } from '@temporalio/common'
import type { TemporalClient } from '../connection/client.ts'

/** If no worker can replay it, a signal makes its task fail, for recovery to find. Throws as the query. */
export async function queryOrWake<Result>(client: TemporalClient, workflowId: string, query: QueryDefinition<Result>): Promise<Result> {
  try {
    return await client.workflow.getHandle(workflowId).query(query)
  } catch (error) {
    // Every build has these queries, so a worker without one cannot replay the workflow.
    if (error instanceof QueryNotRegisteredError) await wake(client, workflowId).catch(() => {})
    throw error
  }
}

/** One pending task is enough for all processes. */
async function wake(client: TemporalClient, workflowId: string): Promise<void> {
  const handle = client.workflow.getHandle(workflowId)
  const { status, raw } = await handle.describe()
  if (status.name === 'RUNNING' && !raw.pendingWorkflowTask) await handle.signal('wake')
}
