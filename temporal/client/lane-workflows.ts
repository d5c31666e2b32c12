import type { QueryDefinition, WorkflowExecutionInfo } from '@temporalio/client'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { TemporalClient } from './client.ts'
import { fromTemporal } from './errors.ts'

const serverTimeoutMs = 10_000
const queryTimeoutMs = 5_000

/** Workflows of one type that belong to a lane; their ids begin with `prefix`. */
export interface LaneWorkflows {
  readonly lane: LaneId
  readonly type: 'batch' | 'operatorTransaction'
  readonly prefix: string
  /** How many of those that have ended, besides those that run. */
  readonly closed: number
}

/** A workflow of a lane. */
export interface LaneWorkflow<Status> {
  readonly id: string
  /** Temporal's word for its state: RUNNING, FAILED, TERMINATED… */
  readonly execution: string
  /** ISO 8601. */
  readonly startedAt: string
  readonly memo: Readonly<Record<string, unknown>> | undefined
  /** Absent: it failed, or no worker of the queue `ledger` answers. */
  readonly status?: Status
}

/** Those that run and `closed` of those that have ended, newest first, each with its status. Throws TEMPORAL_UNAVAILABLE. */
export async function listLaneWorkflows<Status>(
  client: TemporalClient,
  { lane, type, prefix, closed }: LaneWorkflows,
  statusQuery: QueryDefinition<Status>,
): Promise<LaneWorkflow<Status>[]> {
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
      return Promise.all(
        infos.toSorted((a, b) => b.startTime.getTime() - a.startTime.getTime()).map((info) => read(client, info, statusQuery)),
      )
    })
  } catch (error) {
    throw fromTemporal(error, {}, { lane })
  }
}

async function read<Status>(
  client: TemporalClient,
  { workflowId: id, runId, status: execution, startTime, memo }: WorkflowExecutionInfo,
  statusQuery: QueryDefinition<Status>,
): Promise<LaneWorkflow<Status>> {
  const handle = client.workflow.getHandle(id, runId)
  const ask = () => (execution.name === 'COMPLETED' ? (handle.result() as Promise<Status>) : handle.query(statusQuery))
  // One that does not answer must not hide the others.
  const status = await client.withDeadline(Date.now() + queryTimeoutMs, ask).catch(() => undefined)
  const row = { id, execution: execution.name, startedAt: startTime.toISOString(), memo }
  return { ...row, ...(status && { status }) }
}
