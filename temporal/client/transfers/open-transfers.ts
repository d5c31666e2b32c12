import type { WorkflowExecutionInfo } from '@temporalio/client'
import { type TransferState, transferStates } from '../../../domain/transfer/transfer.ts'
import { searchAttributes } from '../../contracts/names.ts'
import { listWorkflows, type TemporalClient } from '../connection/client.ts'
import type { RunId } from '../visibility/runs.ts'
import { running, transfersWith } from './transfer-queries.ts'

/** A transfer that is not done, as the visibility store has it, which lags by a second or so. */
export interface OpenTransfer extends RunId {
  /** `admitting` before its first task, too. */
  readonly state: TransferState
  readonly bridge: string
  readonly sourceChain: string
  readonly targetChain: string
  /** Chosen last. */
  readonly lane?: string
  /** Why it waits or is parked; absent while it goes on. */
  readonly code?: string
  /** When its run began, ms since the epoch. */
  readonly startedAt: number
}

/** Transfers of one kind, the newest first. */
export interface OpenTransfers {
  readonly listed: readonly OpenTransfer[]
  /** How many there are in all. */
  readonly total: number
}

/**
 * parked: out of automatic tries. waiting: for something that passes. moving: in a step. declined: ended by our policy,
 * not long ago.
 */
export type OpenKind = 'parked' | 'waiting' | 'moving' | 'declined'

/**
 * At most so many of the transfers of this kind, and how many there are: one query, and one more where there are more.
 * `before`, of those that move: runs that began before then; `since`, of the declined: that ended since then (ms since
 * the epoch). Throws what the Temporal client throws.
 */
export async function openTransfers(
  client: TemporalClient,
  kind: OpenKind,
  { most, before = 0, since = 0 }: { readonly most: number; readonly before?: number; readonly since?: number },
): Promise<OpenTransfers> {
  const state = searchAttributes.TransferState.name
  const query = {
    parked: transfersWith({ TransferState: 'parked' }, running),
    waiting: transfersWith({ TransferState: 'waiting' }, running),
    moving: transfersWith({}, running, `${state} != 'parked'`, `${state} != 'waiting'`, `StartTime < '${new Date(before).toISOString()}'`),
    declined: transfersWith({ TransferState: 'declined' }, `CloseTime >= '${new Date(since).toISOString()}'`),
  }[kind]
  const runs = await listWorkflows(client, query, { most })
  const total = runs.length < most ? runs.length : (await client.workflow.count(query)).count
  return { listed: runs.map(toOpen), total }
}

/** Whoever reaches Temporal chooses the search attributes of his runs: these are texts of a stranger. */
function toOpen({ workflowId, runId, startTime, typedSearchAttributes }: WorkflowExecutionInfo): OpenTransfer {
  const value = (name: keyof typeof searchAttributes) => typedSearchAttributes.get(searchAttributes[name])
  const lane = value('Lane')
  const code = value('PortageCode')
  return {
    workflowId,
    runId,
    state: transferStates.find((one) => one === value('TransferState')) ?? 'admitting',
    bridge: value('Bridge') ?? '',
    sourceChain: value('SourceChain') ?? '',
    targetChain: value('TargetChain') ?? '',
    ...(lane !== undefined && { lane }),
    ...(code !== undefined && { code }),
    startedAt: startTime.getTime(),
  }
}
