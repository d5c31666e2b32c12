import type { LaneId } from '../../domain/lane/lane-id.ts'
import { workflowOf } from '../../domain/lane/intent-id.ts'
import { tombstone } from '../../domain/lane/withdraw.ts'
import type { BatchMemo } from '../../temporal/contracts/batch.ts'
import { laneStatusQuery } from '../../temporal/contracts/lane.ts'
import { batchPrefix, laneWorkflowId } from '../../temporal/contracts/names.ts'
import type { Client } from '@temporalio/client'
import { WorkflowNotFoundError } from '@temporalio/client'

/** A batch that holds a nonce which is not final. */
export interface BatchEntry {
  /** Workflow id. */
  readonly id: string
  readonly nonce: number
}

/** The batches whose nonces the ledger has, lowest first. None if there is no ledger. Throws what the client throws. */
export async function batchEntries(client: Client, lane: LaneId): Promise<BatchEntry[]> {
  const { entries } = await client.workflow.getHandle(laneWorkflowId(lane)).query(laneStatusQuery)
  return Object.values(entries).flatMap(({ nonce, owner }) =>
    owner?.intentId.startsWith(batchPrefix(lane)) ? [{ id: workflowOf(owner.intentId), nonce }] : [],
  )
}

/** What a batch's memo says of its members: of each its short name, since servers warn of memos above 2 KB. */
export function memoOf(intentIds: readonly string[]): BatchMemo {
  return { members: intentIds.map(tombstone) }
}

/** Is this intent among those of a memo? */
export function isAmong(members: BatchMemo['members'], intentId: string): boolean {
  return members.includes(tombstone(intentId))
}

/** Whom a batch delivers, as its memo has it; nobody if the server knows no such batch (any more). Throws what the client throws. */
export async function membersOf(client: Client, id: string): Promise<BatchMemo['members']> {
  try {
    const { memo } = await client.workflow.getHandle(id).describe()
    return (memo as unknown as BatchMemo | undefined)?.members ?? []
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return []
    throw error
  }
}

/**
 * The nonce of the batch that may deliver an intent; undefined: none can. To be asked once the intent is withdrawn: who signs a batch looks for that
 * after its nonce is in the ledger, so that one of the two finds the other.
 */
export async function nonceOfBatchWith(client: Client, lane: LaneId, intentId: string): Promise<number | undefined> {
  for (const { id, nonce } of await batchEntries(client, lane)) if (isAmong(await membersOf(client, id), intentId)) return nonce
  return undefined
}
