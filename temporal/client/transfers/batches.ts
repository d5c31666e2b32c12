import { workflowOf, type LaneId } from '../../../domain/lane/lane.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { tombstone } from '../../../domain/lane/entries.ts'
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
import { listLaneWorkflows, queryLane, readLane } from '../lanes/lanes.ts'
import { unreadableCode } from '../visibility/memos.ts'
import { queryOrWake } from '../calls/workflow-calls.ts'

export async function startBatch(client: TemporalClient, id: string, input: BatchInput): Promise<void> {
  await client.workflow.start<(input: BatchInput) => Promise<BatchStatus>>('batch', {
    workflowId: id,
    taskQueue: ledgerQueue,
    args: [input],
    // A memo is readable without a worker. Servers warn of memos above 2 KB, so the members are short hashes.
    memo: { members: input.members.map(tombstone) },
    staticSummary: `${input.members.length} transfers in one call by ${input.lane}`,
  })
}

export function queryBatch(client: TemporalClient, id: string): Promise<BatchStatus> {
  return queryOrWake(client, id, batchStatusQuery)
}

/** Records that no member has a nonce, and that none was withdrawn. Only after this record may the call be signed. */
export function signalBatchCleared(client: TemporalClient, id: string): Promise<void> {
  return client.workflow.getHandle(id).signal(batchClearedSignal)
}

export function signalBatchOver(client: TemporalClient, id: string, end: BatchEnd): Promise<void> {
  return client.workflow.getHandle(id).signal(batchOverSignal, end)
}

/** Batches whose nonce is not final yet, lowest nonce first. Throws WorkflowNotFoundError without a ledger. */
export async function batchEntries(client: TemporalClient, lane: LaneId) {
  const { entries } = await queryLane(client, lane)
  return Object.values(entries).flatMap(({ nonce, owner }) =>
    owner?.intentId.startsWith(batchPrefix(lane)) ? [{ id: workflowOf(owner.intentId), nonce }] : [],
  )
}

/** Throws if the memo is unreadable: an empty answer could let a transfer end while a batch carries it. */
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

export function isMember(members: readonly string[], intentId: string): boolean {
  return members.includes(tombstone(intentId))
}

/** Nonce of the open batch that contains the intent. Withdraw the intent first, so that no later batch contains it. */
export async function nonceOfBatchWith(client: TemporalClient, lane: LaneId, intentId: string): Promise<number | undefined> {
  for (const { id, nonce } of await batchEntries(client, lane)) {
    if (isMember(await batchMembers(client, id), intentId)) return nonce
  }
  return undefined
}

/** Transfers of the open batches. `known` caches the transfers of each batch, which never change. */
export async function carriedByBatches(client: TemporalClient, lane: LaneId, known = new Map<string, ReadonlySet<string>>()) {
  const entries = await batchEntries(client, lane)
  const present = new Set(entries.map(({ id }) => id))
  for (const id of known.keys()) if (!present.has(id)) known.delete(id)
  const carried: { nonce: number; workflows: ReadonlySet<string> }[] = []
  for (const { id, nonce } of entries) {
    const status = known.has(id) ? undefined : await queryBatch(client, id).catch(ifGone(undefined))
    const workflows = known.get(id) ?? (status && new Set(status.members.map(workflowOf)))
    if (!workflows) continue
    known.set(id, workflows)
    carried.push({ nonce, workflows })
  }
  return carried
}

export async function listBatches(client: TemporalClient, lane: LaneId, closed: number) {
  const entries = await readLane(client, lane).then(
    (state) => Object.values(state.entries),
    () => [],
  )
  const rows = await listLaneWorkflows(client, lane, 'batch', closed, batchStatusQuery)
  return rows.map(({ id: batch, execution, startedAt, memo, status }) => {
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
