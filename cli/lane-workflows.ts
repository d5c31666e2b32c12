import type { Client, QueryDefinition, WorkflowExecutionInfo } from '@temporalio/client'
import { fromTemporal } from '../api/temporal-errors.ts'
import type { LaneId } from '../domain/lane/lane-id.ts'

const serverTimeoutMs = 10_000
const queryTimeoutMs = 5_000

/** What a lane has beside its ledger: workflows of one type, whose ids begin alike. */
export interface LaneWorkflows {
  readonly lane: LaneId
  readonly type: 'batch' | 'operatorTransaction'
  readonly prefix: string
  /** So many of those that have ended, beside those under way. */
  readonly closed: number
}

/** One row per workflow, newest first. Throws TEMPORAL_UNAVAILABLE. */
export async function listOfLane<Row>(
  client: Client,
  { lane, type, prefix, closed }: LaneWorkflows,
  toRow: (info: WorkflowExecutionInfo) => Promise<Row>,
): Promise<Row[]> {
  const list = async (query: string, most: number): Promise<WorkflowExecutionInfo[]> => {
    const found: WorkflowExecutionInfo[] = []
    for await (const info of client.workflow.list({ query: `WorkflowType = '${type}' AND ${query}` })) {
      if (info.workflowId.startsWith(prefix)) found.push(info)
      if (found.length >= most) break
    }
    return found
  }
  try {
    return await client.withDeadline(Date.now() + serverTimeoutMs, async () => {
      const ended = closed > 0 ? await list(`ExecutionStatus != 'Running' AND ExecutionStatus != 'ContinuedAsNew'`, closed) : []
      const infos = [...(await list(`ExecutionStatus = 'Running'`, Infinity)), ...ended]
      return Promise.all(infos.toSorted((a, b) => b.startTime.getTime() - a.startTime.getTime()).map(toRow))
    })
  } catch (error) {
    throw fromTemporal(error, 'INTERNAL', { lane })
  }
}

/** What a workflow says of itself, or has ended with; undefined: it failed, or nobody answers. One that does not answer must not hide the others. */
export function statusOf<Status>(
  client: Client,
  { workflowId, runId, status }: WorkflowExecutionInfo,
  query: QueryDefinition<Status>,
): Promise<Status | undefined> {
  const handle = client.workflow.getHandle(workflowId, runId)
  return client
    .withDeadline(Date.now() + queryTimeoutMs, () =>
      status.name === 'COMPLETED' ? (handle.result() as Promise<Status>) : handle.query(query),
    )
    .catch(() => undefined)
}
