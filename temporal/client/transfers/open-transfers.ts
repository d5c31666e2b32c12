import type { WorkflowExecutionInfo } from '@temporalio/client'
import { type TransferState, transferStates } from '../../../domain/transfer/transfer.ts'
import { searchAttributes } from '../../contracts/names.ts'
import { listWorkflows, type TemporalClient } from '../connection/client.ts'
import type { RunId } from '../visibility/runs.ts'
import { running, transfersWith } from './transfer-queries.ts'

/** The visibility store lags by about a second. */
export interface OpenTransfer extends RunId {
  /** Also `admitting` before the first task. */
  readonly state: TransferState
  readonly bridge: string
  readonly sourceChain: string
  readonly targetChain: string
  readonly lane?: string
  /** Absent while it goes on. */
  readonly code?: string
  /** Of its run, ms since the epoch. */
  readonly startedAt: number
}

/** Newest first. */
export interface OpenTransfers {
  readonly listed: readonly OpenTransfer[]
  readonly total: number
}

/** `parked`: waits for a person. `waiting`: for a gate. `moving`: in a step. `declined`: refused by policy lately. */
export type OpenKind = 'parked' | 'waiting' | 'moving' | 'declined'

/** `before`: moving ones that began earlier. `since`: declined ones that ended later (ms since the epoch). */
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

/** Anyone who reaches Temporal chooses these texts. */
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
