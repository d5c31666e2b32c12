import type { Client, WorkflowExecutionInfo } from '@temporalio/client'
import { WorkflowNotFoundError } from '@temporalio/common'
import { fromTemporal } from '../api/temporal-errors.ts'
import { RelayerError } from '../domain/errors.ts'
import type { LaneId } from '../domain/lane/lane-id.ts'
import type { OperatorTransactionStatus } from '../temporal/contracts/operator-transaction.ts'
import { cancelOperatorTransactionSignal, operatorTransactionStatusQuery } from '../temporal/contracts/operator-transaction.ts'
import { listOfLane, statusOf } from './lane-workflows.ts'

/** An operator transaction of a lane. Without a status: it failed, or no worker of the queue `ledger` answers. */
export interface OperatorTransactionRow {
  readonly operatorTransaction: string
  /** Temporal's word for its workflow. */
  readonly execution: string
  /** ISO 8601. */
  readonly startedAt: string
  readonly status?: OperatorTransactionStatus
}

/** The operator transactions of a lane, newest first: those under way, and with `closed` so many of those that ended. Throws TEMPORAL_UNAVAILABLE. */
export function listOperatorTransactions(client: Client, lane: LaneId, closed: number): Promise<OperatorTransactionRow[]> {
  return listOfLane(client, { lane, type: 'operatorTransaction', prefix: `operator-transaction:${lane}:`, closed }, (info) =>
    toRow(client, info),
  )
}

/**
 * Asks an operator transaction to end: what holds no nonce ends at once, a nonce in flight gets the lane's no-op, and if its call wins the operator transaction is done.
 * Throws INPUT_INVALID for what is no operator transaction, or closed; TEMPORAL_UNAVAILABLE.
 */
export async function cancelOperatorTransaction(
  client: Client,
  operatorTransaction: string,
  order: { by: string; reason: string },
): Promise<void> {
  const refuse = (detail: string) => new RelayerError('INPUT_INVALID', { detail, facts: { operatorTransaction } })
  if (!operatorTransaction.startsWith('operator-transaction:'))
    throw refuse('The id of an operator transaction begins with operator-transaction: (portage lane transactions <lane>).')
  const handle = client.workflow.getHandle(operatorTransaction)
  try {
    const { status } = await handle.describe()
    if (status.name !== 'RUNNING') throw refuse('This operator transaction is closed already.')
    await handle.signal(cancelOperatorTransactionSignal, order)
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) throw refuse('There is no such operator transaction (portage lane transactions <lane>).')
    throw fromTemporal(error, 'INTERNAL', { operatorTransaction })
  }
}

async function toRow(client: Client, info: WorkflowExecutionInfo): Promise<OperatorTransactionRow> {
  const { workflowId, status, startTime } = info
  const known = await statusOf(client, info, operatorTransactionStatusQuery)
  return { operatorTransaction: workflowId, execution: status.name, startedAt: startTime.toISOString(), ...(known && { status: known }) }
}
