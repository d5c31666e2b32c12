import { workflowOf } from '../../domain/lane/intent-id.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import { batchStatusQuery } from '../contracts/batch.ts'
import { batchPrefix } from '../contracts/names.ts'
import type { TemporalClient } from './client.ts'
import { listLaneWorkflows } from './lane-workflows.ts'
import { readLane } from './lane-orders.ts'

/** A call that delivers many transfers, as its workflow and the ledger of its lane know it. */
export interface BatchRow {
  /** Workflow id. */
  readonly batch: string
  /** ISO 8601. */
  readonly startedAt: string
  readonly members: number
  /** `underway`, or how it ended; `no answer`, or Temporal's word for its workflow, where its status is not known. */
  readonly state: string
  /** Absent: it has none, or none is known. */
  readonly nonce?: number
  readonly txHash?: string
  readonly detail?: string
  /** Intents of its transfers: their ids, and the round. Absent where the workflow does not answer. */
  readonly transfers?: readonly string[]
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
    const members = memo?.['members']
    const granted = entries.find(({ owner }) => owner && workflowOf(owner.intentId) === batch)?.nonce
    const nonce = status && 'nonce' in status ? status.nonce : granted
    return {
      batch,
      startedAt,
      members: status?.members.length ?? (Array.isArray(members) ? members.length : 0),
      state: status?.state ?? (execution === 'RUNNING' ? 'no answer' : execution.toLowerCase()),
      ...(nonce !== undefined && { nonce }),
      ...(status && 'txHash' in status && { txHash: status.txHash }),
      ...(status?.detail && { detail: status.detail }),
      ...(status && { transfers: status.members }),
    }
  })
}
