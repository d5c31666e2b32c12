import type { QueryDefinition, WorkflowExecutionInfo } from '@temporalio/client'
import type { LaneId } from '../../../domain/lane/lane.ts'
import { listWorkflows, newestFirst, type TemporalClient, within } from '../connection/client.ts'
import { rethrowAs } from '../connection/errors.ts'
import { running } from '../transfers/transfer-queries.ts'

const serverTimeoutMs = 10_000
const queryTimeoutMs = 5_000

export interface LaneWorkflow<Status> {
  readonly id: string
  /** Temporal's: RUNNING, FAILED and so on. */
  readonly execution: string
  /** ISO 8601. */
  readonly startedAt: string
  readonly memo: Readonly<Record<string, unknown>> | undefined
  /** Undefined: it failed, or no worker of the queue `ledger` answers. */
  readonly status: Status | undefined
}

/** Running ones and `closed` ended ones, newest first. Throws TEMPORAL_UNAVAILABLE. */
export function listLaneWorkflows<Status>(
  client: TemporalClient,
  lane: LaneId,
  type: 'batch' | 'operatorTransaction',
  closed: number,
  statusQuery: QueryDefinition<Status>,
): Promise<LaneWorkflow<Status>[]> {
  const isWanted = ({ workflowId }: WorkflowExecutionInfo) => workflowId.includes(`:${lane}:`)
  const list = (condition: string, most?: number) => listWorkflows(client, `WorkflowType = '${type}' AND ${condition}`, { most, isWanted })
  const read = async ({ workflowId: id, runId, status: execution, startTime, memo }: WorkflowExecutionInfo) => {
    const handle = client.workflow.getHandle(id, runId)
    const ask = () => (execution.name === 'COMPLETED' ? (handle.result() as Promise<Status>) : handle.query(statusQuery))
    // A silent workflow must not hide the others.
    const status = await within(client, queryTimeoutMs, ask).catch(() => undefined)
    return { id, execution: execution.name, startedAt: startTime.toISOString(), memo, status }
  }
  return within(client, serverTimeoutMs, async () => {
    const ended = closed > 0 ? await list(`ExecutionStatus != 'Running' AND ExecutionStatus != 'ContinuedAsNew'`, closed) : []
    return Promise.all([...(await list(running)), ...ended].toSorted(newestFirst).map(read))
  }).catch(rethrowAs({}, { lane }))
}
