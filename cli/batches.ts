import type { Client, WorkflowExecutionInfo } from '@temporalio/client'
import { fromTemporal } from '../api/temporal-errors.ts'
import type { LaneId } from '../domain/lane-id.ts'
import { batchEntries } from '../lanes/batch-records.ts'
import type { BatchMemo, BatchStatus } from '../temporal/batch.ts'
import { batchStatusQuery } from '../temporal/batch.ts'
import { batchPrefix } from '../temporal/names.ts'

/** A call for many transfers, as its workflow and the ledger of its lane have it. */
export interface BatchRow {
  /** Workflow id. */
  readonly batch: string
  /** ISO 8601. */
  readonly startedAt: string
  readonly members: number
  /** `underway`, or how it ended; else Temporal's word for its workflow: it failed, or no worker of the queue `lanes` answers. */
  readonly state: string
  /** Absent: it has none (yet), or nobody answers. */
  readonly nonce?: number
  readonly txHash?: string
  readonly detail?: string
  /** Intents of its transfers: their ids, and the round. Absent where nobody answers. */
  readonly transfers?: readonly string[]
}

const serverTimeoutMs = 10_000
const queryTimeoutMs = 5_000

/** The batches of a lane, newest first: those under way, and with `closed` so many of those that ended. Throws TEMPORAL_UNAVAILABLE. */
export async function listBatches(client: Client, lane: LaneId, closed: number): Promise<BatchRow[]> {
  const list = async (query: string, most: number): Promise<WorkflowExecutionInfo[]> => {
    const found: WorkflowExecutionInfo[] = []
    for await (const info of client.workflow.list({ query: `WorkflowType = 'batch' AND ${query}` })) {
      if (info.workflowId.startsWith(batchPrefix(lane))) found.push(info)
      if (found.length >= most) break
    }
    return found
  }
  try {
    return await client.withDeadline(Date.now() + serverTimeoutMs, async () => {
      const ended = closed > 0 ? await list(`ExecutionStatus != 'Running' AND ExecutionStatus != 'ContinuedAsNew'`, closed) : []
      const infos = [...(await list(`ExecutionStatus = 'Running'`, Infinity)), ...ended]
      // A lane without a ledger, or whose ledger does not answer, must not hide its batches.
      const nonces = new Map((await batchEntries(client, lane).catch(() => [])).map(({ id, nonce }) => [id, nonce]))
      const newestFirst = infos.toSorted((a, b) => b.startTime.getTime() - a.startTime.getTime())
      return Promise.all(newestFirst.map((info) => toRow(client, info, nonces.get(info.workflowId))))
    })
  } catch (error) {
    throw fromTemporal(error, 'INTERNAL', { lane })
  }
}

async function toRow(
  client: Client,
  { workflowId, runId, status, startTime, memo }: WorkflowExecutionInfo,
  held: number | undefined,
): Promise<BatchRow> {
  const handle = client.workflow.getHandle(workflowId, runId)
  const known = await client
    .withDeadline(Date.now() + queryTimeoutMs, () =>
      status.name === 'COMPLETED' ? (handle.result() as Promise<BatchStatus>) : handle.query(batchStatusQuery),
    )
    .catch(() => undefined)
  const named = (memo as unknown as BatchMemo | undefined)?.members?.length ?? 0
  const row = { batch: workflowId, startedAt: startTime.toISOString() }
  const nonce = known && 'nonce' in known ? known.nonce : held
  return {
    ...row,
    members: known?.members.length ?? named,
    state: known?.state ?? (status.name === 'RUNNING' ? 'no answer' : status.name.toLowerCase()),
    ...(nonce !== undefined && { nonce }),
    ...(known && 'txHash' in known && { txHash: known.txHash }),
    ...(known?.detail && { detail: known.detail }),
    ...(known && { transfers: known.members }),
  }
}
