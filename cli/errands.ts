import type { Client, WorkflowExecutionInfo } from '@temporalio/client'
import { WorkflowNotFoundError } from '@temporalio/common'
import { fromTemporal } from '../api/temporal-errors.ts'
import { RelayerError } from '../domain/errors.ts'
import type { LaneId } from '../domain/lane-id.ts'
import type { ErrandStatus } from '../temporal/errand.ts'
import { cancelErrandSignal, errandStatusQuery } from '../temporal/errand.ts'
import { listOfLane, statusOf } from './lane-workflows.ts'

/** An errand of a lane. Without a status: it failed, or no worker of the queue `lanes` answers. */
export interface ErrandRow {
  readonly errand: string
  /** Temporal's word for its workflow. */
  readonly execution: string
  /** ISO 8601. */
  readonly startedAt: string
  readonly status?: ErrandStatus
}

/** The errands of a lane, newest first: those under way, and with `closed` so many of those that ended. Throws TEMPORAL_UNAVAILABLE. */
export function listErrands(client: Client, lane: LaneId, closed: number): Promise<ErrandRow[]> {
  return listOfLane(client, { lane, type: 'errand', prefix: `errand:${lane}:`, closed }, (info) => toRow(client, info))
}

/**
 * Asks an errand to end: what holds no nonce ends at once, a nonce in flight gets the lane's no-op, and if its call wins the errand is done.
 * Throws INPUT_INVALID for what is no errand, or closed; TEMPORAL_UNAVAILABLE.
 */
export async function cancelErrand(client: Client, errand: string, order: { by: string; reason: string }): Promise<void> {
  const refuse = (detail: string) => new RelayerError('INPUT_INVALID', { detail, facts: { errand } })
  if (!errand.startsWith('errand:')) throw refuse('The id of an errand begins with errand: (portage lane errands <lane>).')
  const handle = client.workflow.getHandle(errand)
  try {
    const { status } = await handle.describe()
    if (status.name !== 'RUNNING') throw refuse('This errand is closed already.')
    await handle.signal(cancelErrandSignal, order)
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) throw refuse('There is no such errand (portage lane errands <lane>).')
    throw fromTemporal(error, 'INTERNAL', { errand })
  }
}

async function toRow(client: Client, info: WorkflowExecutionInfo): Promise<ErrandRow> {
  const { workflowId, status, startTime } = info
  const known = await statusOf(client, info, errandStatusQuery)
  return { errand: workflowId, execution: status.name, startedAt: startTime.toISOString(), ...(known && { status: known }) }
}
