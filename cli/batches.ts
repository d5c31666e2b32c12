import type { Client, WorkflowExecutionInfo } from '@temporalio/client'
import type { LaneId } from '../domain/lane/lane-id.ts'
import { batchEntries } from '../lanes/batch/records.ts'
import type { BatchMemo } from '../temporal/contracts/batch.ts'
import { batchStatusQuery } from '../temporal/contracts/batch.ts'
import { batchPrefix } from '../temporal/contracts/names.ts'
import { listOfLane, statusOf } from './lane-workflows.ts'

/** A call for many transfers, as its workflow and the ledger of its lane have it. */
export interface BatchRow {
  /** Workflow id. */
  readonly batch: string
  /** ISO 8601. */
  readonly startedAt: string
  readonly members: number
  /** `underway`, or how it ended; else Temporal's word for its workflow: it failed, or no worker of the queue `ledger` answers. */
  readonly state: string
  /** Absent: it has none (yet), or nobody answers. */
  readonly nonce?: number
  readonly txHash?: string
  readonly detail?: string
  /** Intents of its transfers: their ids, and the round. Absent where nobody answers. */
  readonly transfers?: readonly string[]
}

/** The batches of a lane, newest first: those under way, and with `closed` so many of those that ended. Throws TEMPORAL_UNAVAILABLE. */
export async function listBatches(client: Client, lane: LaneId, closed: number): Promise<BatchRow[]> {
  // A lane without a ledger, or whose ledger does not answer, must not hide its batches.
  const nonces = new Map((await batchEntries(client, lane).catch(() => [])).map(({ id, nonce }) => [id, nonce]))
  const batches = { lane, type: 'batch', prefix: batchPrefix(lane), closed } as const
  return listOfLane(client, batches, (info) => toRow(client, info, nonces.get(info.workflowId)))
}

async function toRow(client: Client, info: WorkflowExecutionInfo, held: number | undefined): Promise<BatchRow> {
  const { workflowId, status, startTime, memo } = info
  const known = await statusOf(client, info, batchStatusQuery)
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
