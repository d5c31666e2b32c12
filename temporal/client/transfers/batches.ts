import { workflowOf } from '../../../domain/lane/intent-id.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { LaneId } from '../../../domain/lane/lane-id.ts'
import { tombstone } from '../../../domain/lane/reducer/withdraw.ts'
import {
  batchClearedSignal,
  type BatchEnd,
  type BatchInput,
  batchOverSignal,
  type BatchStatus,
  batchStatusQuery,
} from '../../contracts/batch.ts'
import { batchPrefix, ledgerQueue } from '../../contracts/names.ts'
import type { TemporalClient } from '../connection/client.ts'
import { ifGone } from '../connection/errors.ts'
import { listLaneWorkflows } from '../lanes/lane-workflows.ts'
import { queryLane, readLane } from '../lanes/lanes.ts'
import { unreadableCode } from '../visibility/memos.ts'
import { queryOrWake } from '../calls/query-or-wake.ts'

/** A batch that holds a nonce which is not final, by its workflow's id. */
export interface BatchEntry {
  readonly id: string
  readonly nonce: number
}

/** Records a batch. Throws what the Temporal client throws. */
export async function startBatch(client: TemporalClient, id: string, input: BatchInput): Promise<void> {
  await client.workflow.start<(input: BatchInput) => Promise<BatchStatus>>('batch', {
    workflowId: id,
    taskQueue: ledgerQueue,
    args: [input],
    // Readable without a worker. Short names, since servers warn of memos above 2 KB.
    memo: { members: input.members.map(tombstone) },
    staticSummary: `${input.members.length} transfers in one call by ${input.lane}`,
  })
}

/** Throws what the Temporal client throws. */
export function queryBatch(client: TemporalClient, id: string): Promise<BatchStatus> {
  return queryOrWake(client, id, batchStatusQuery)
}

/** Signals that every member was free: it may be signed from now on. Throws what the Temporal client throws. */
export function signalBatchCleared(client: TemporalClient, id: string): Promise<void> {
  return client.workflow.getHandle(id).signal(batchClearedSignal)
}

/** Tells a batch what became of its nonce. Throws what the Temporal client throws. */
export function signalBatchOver(client: TemporalClient, id: string, end: BatchEnd): Promise<void> {
  return client.workflow.getHandle(id).signal(batchOverSignal, end)
}

/**
 * The batches whose nonces the ledger of a lane has, lowest first. Throws what the Temporal client throws: `isGone` if
 * there is no ledger.
 */
export async function batchEntries(client: TemporalClient, lane: LaneId): Promise<BatchEntry[]> {
  const { entries } = await queryLane(client, lane)
  return Object.values(entries).flatMap(({ nonce, owner }) =>
    owner?.intentId.startsWith(batchPrefix(lane)) ? [{ id: workflowOf(owner.intentId), nonce }] : [],
  )
}

/**
 * The members of a batch as its memo has them; empty if the server knows no such batch. Throws what the Temporal client
 * throws, and what the codec throws if they cannot be read: to take them for none would end a transfer that the batch
 * may deliver.
 */
export async function batchMembers(client: TemporalClient, id: string): Promise<readonly string[]> {
  const description = await client.workflow.getHandle(id).describe().catch(ifGone(undefined))
  const code = unreadableCode(description?.memo?.['members'])
  if (code) throw new RelayerError(code, { facts: { batch: id } })
  return membersOf(description?.memo)
}

function membersOf(memo: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  const members = memo?.['members']
  return Array.isArray(members) ? members.map(String) : []
}

/** Whether an intent is among the members of a memo. */
export function isMember(members: readonly string[], intentId: string): boolean {
  return members.includes(tombstone(intentId))
}

/**
 * The nonce of the batch that may deliver an intent; undefined: none can. To be asked after the intent is withdrawn: a
 * batch is signed only after its nonce is in the ledger and its members were seen to be free, so that one of the two
 * finds the other. Throws what the Temporal client throws.
 */
export async function nonceOfBatchWith(client: TemporalClient, lane: LaneId, intentId: string): Promise<number | undefined> {
  for (const { id, nonce } of await batchEntries(client, lane)) {
    if (isMember(await batchMembers(client, id), intentId)) return nonce
  }
  return undefined
}

/** A batch whose nonce is not final, and the workflows that intents of its members are of. */
export interface CarriedWorkflows {
  readonly nonce: number
  readonly workflows: ReadonlySet<string>
}

/**
 * What the batches of a lane carry whose nonces are not final. Throws what the Temporal client throws.
 * @param known the workflows of each batch, as asked before: its members never change. It is kept to the present
 * batches of the lane
 */
export async function carriedByBatches(
  client: TemporalClient,
  lane: LaneId,
  known = new Map<string, ReadonlySet<string>>(),
): Promise<CarriedWorkflows[]> {
  const entries = await batchEntries(client, lane)
  const present = new Set(entries.map(({ id }) => id))
  for (const id of known.keys()) if (!present.has(id)) known.delete(id)
  const carried: CarriedWorkflows[] = []
  for (const { id, nonce } of entries) {
    const workflows = known.get(id) ?? (await workflowsIn(client, id))
    if (!workflows) continue
    known.set(id, workflows)
    carried.push({ nonce, workflows })
  }
  return carried
}

async function workflowsIn(client: TemporalClient, batch: string): Promise<ReadonlySet<string> | undefined> {
  const status = await queryBatch(client, batch).catch(ifGone(undefined))
  return status && new Set(status.members.map(workflowOf))
}

/** A call that delivers many transfers, as its workflow and the ledger of its lane know it. */
export interface BatchRow {
  /** Workflow id. */
  readonly batch: string
  /** ISO 8601. */
  readonly startedAt: string
  readonly members: number
  /** `underway`, or how it ended; `no answer`, or Temporal's word for its workflow, where its status is not known. */
  readonly state: string
  readonly nonce: number | undefined
  readonly txHash: string | undefined
  readonly detail: string | undefined
  /** Intents of its transfers: their ids, and the round. Undefined where the workflow does not answer. */
  readonly transfers: readonly string[] | undefined
}

/**
 * The batches of a lane, newest first: those that run, and `closed` of those that have ended. Throws
 * TEMPORAL_UNAVAILABLE.
 */
export async function listBatches(client: TemporalClient, lane: LaneId, closed: number): Promise<BatchRow[]> {
  // A lane without a ledger, or whose ledger does not answer, must not hide its batches.
  const entries = await readLane(client, lane).then(
    (state) => Object.values(state.entries),
    () => [],
  )
  const rows = await listLaneWorkflows(client, lane, 'batch', closed, batchStatusQuery)
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
