import type { WorkflowExecutionInfo } from '@temporalio/client'
import type { ErrorCode } from '../../../domain/catalogue/errors.ts'
import { searchAttributes } from '../../contracts/names.ts'
import { listWorkflows, type TemporalClient } from '../connection/client.ts'
import type { RunId } from '../visibility/runs.ts'
import { toRow, type TransferRow } from './transfer-list.ts'
import { quoted, running, transfersWith } from './transfer-queries.ts'

/** The visibility store lags by a second. Anyone with access to Temporal can choose the texts. */
export interface OpenTransfer
  extends
    RunId,
    Pick<TransferRow, 'lane' | 'code' | 'token' | 'recipient'>,
    Required<Pick<TransferRow, 'state' | 'bridge' | 'sourceChain' | 'targetChain'>> {
  readonly startedAt: number
}

const shownCodes = ['RECIPIENT_DENIED', 'TOKEN_DENIED', 'EXECUTOR_UNSUPPORTED'] as const satisfies readonly ErrorCode[]

/** `moving`: neither parked nor waiting. `declined`: recently ended as declined, with one of `shownCodes`. */
export type OpenKind = 'parked' | 'waiting' | 'moving' | 'declined'

/**
 * `before`: moving transfers must have started earlier. `since`: declined transfers must not have ended earlier. Both
 * are ms since the epoch.
 */
export async function openTransfers(
  client: TemporalClient,
  kind: OpenKind,
  { most, before = 0, since = 0 }: { readonly most: number; readonly before?: number; readonly since?: number },
): Promise<{ readonly listed: readonly OpenTransfer[]; readonly total: number }> {
  const state = searchAttributes.TransferState.name
  const isShown = `${searchAttributes.PortageCode.name} IN (${shownCodes.map(quoted).join(', ')})`
  const query = {
    parked: transfersWith({ TransferState: 'parked' }, running),
    waiting: transfersWith({ TransferState: 'waiting' }, running),
    moving: transfersWith({}, running, `${state} != 'parked'`, `${state} != 'waiting'`, `StartTime < '${new Date(before).toISOString()}'`),
    declined: transfersWith({ TransferState: 'declined' }, isShown, `CloseTime >= '${new Date(since).toISOString()}'`),
  }[kind]
  const runs = await listWorkflows(client, query, { most })
  const total = runs.length < most ? runs.length : (await client.workflow.count(query)).count
  return { listed: runs.map(toOpen), total }
}

function toOpen(run: WorkflowExecutionInfo): OpenTransfer {
  const { id: workflowId, state = 'admitting', bridge = '', sourceChain = '', targetChain = '', lane, code, token, recipient } = toRow(run)
  const route = { bridge, sourceChain, targetChain }
  return { workflowId, runId: run.runId, state, ...route, lane, code, token, recipient, startedAt: run.startTime.getTime() }
}
