import { workflowOf } from '../../domain/lane/intent-id.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import { batchStatusQuery } from '../contracts/batch.ts'
import { batchPrefix } from '../contracts/names.ts'
import { membersOf } from './batch-workflow.ts'
import type { TemporalClient } from './client.ts'
import { listLaneWorkflows } from './lane-workflows.ts'
import { readLane } from './lanes.ts'

/** A call that delivers many transfers, as its workflow and the ledger of its lane know it. */
export interface BatchRow {
  /** Workflow id. */
  readonly batch: string
  /** ISO 8601. */
  readonly startedAt: string
  readonly members: number
  /** `underway`, or how it ended; `no answer`, or Temporal's word for its workflow, where its status is not known. */
  readonly state: string
  /** Undefined: it has none, or none is known. */
  readonly nonce: number | undefined
  readonly txHash: string | undefined
  readonly detail: string | undefined
  /** Intents of its transfers: their ids, and the round. Undefined where the workflow does not answer. */
  readonly transfers: readonly string[] | undefined
}

/** The batches of a lane, newest first: those that run, and `closed` of those that have ended. Throws TEMPORAL_UNAVAILABLE. */
export async function listBatches(client: TemporalClient, lane: LaneId, closed: number): Promise<BatchRow[]> {
  // A lane without a ledger, or whose ledger does not answer, must not hide its batches.
  const entries = await readLane(client, lane).then(
    (state) => Object.values(state.entries),
    () => [],
  )
  const rows = await listLaneWorkflows(client, { lane, type: 'batch', prefix: batchPrefix(lane), closed }, batchStatusQuery)
  return rows.map(({ id: batch, execution, startedAt, memo, status }): BatchRow => {
    const granted = entries.find(({ owner }) => owner && workflowOf(owner.intentId) === batch)?.nonce
    return {
      batch,
      startedAt,
      members: (status?.members ?? membersOf(memo)).length,
      state: status?.state ?? (execution === 'RUNNING' ? 'no answer' : execution.toLowerCase()),
      nonce: status && 'nonce' in status ? status.nonce : granted,
      txHash: status && 'txHash' in status ? status.txHash : undefined,
      detail: status?.detail,
      transfers: status?.members,
    }
  })
}
