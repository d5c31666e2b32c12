import type { WorkflowExecutionInfo } from '@temporalio/client'
import type { KnownContent } from '../../../domain/transfer/content.ts'
import { type NotificationFilter, wantsType } from '../../../domain/notification/notification.ts'
import { ledgerQueue, transferIdParts } from '../../contracts/names.ts'
import { type Reversal, reversalPrefix } from '../../contracts/reversal.ts'
import { eachWorkflow, type TemporalClient, within } from '../connection/client.ts'
import { isPlausibleTransfer } from '../transfers/run-proof.ts'
import { toRow, type TransferRow } from '../transfers/transfer-list.ts'
import { running, transfersWith } from '../transfers/transfer-queries.ts'

/**
 * A run of which receivers may be notified. Strangers can choose ids, so runs that cannot be Portage's are left out.
 */
export interface NotifiedTransfer extends Pick<
  TransferRow,
  'bridge' | 'sourceChain' | 'targetChain' | 'lane' | 'txHash' | 'tokenAmount' | keyof KnownContent
> {
  readonly kind: 'delivered' | 'reversed' | 'parked'
  readonly id: string
  readonly runId: string
  /** Closing time of the run, ms since the epoch. 0 while the run is open. */
  readonly closedAt: number
  /**
   * Time of the event, ms since the epoch: the closing time or, for a reversal, the time of its record. 0 for a parked
   * transfer.
   */
  readonly at: number
}

export interface NotifiedPeriod {
  /** ms since the epoch, inclusive. */
  readonly from: number
  /** ms since the epoch, exclusive. Absent: now. */
  readonly to?: number | undefined
}

const pageSize = 500
const pageTimeoutMs = 10_000

function conditionsOf({ chains, bridges, lanes }: NotificationFilter): string[] {
  const quoted = (values: readonly string[]) => values.map((one) => `'${one}'`).join(', ')
  return [
    ...(bridges ? [`Bridge IN (${quoted(bridges)})`] : []),
    ...(chains ? [`(SourceChain IN (${quoted(chains)}) OR TargetChain IN (${quoted(chains)}))`] : []),
    ...(lanes ? [`Lane IN (${quoted(lanes)})`] : []),
  ]
}

export async function* listNotified(
  client: TemporalClient,
  filter: NotificationFilter,
  period: NotifiedPeriod,
): AsyncGenerator<NotifiedTransfer> {
  const query = closedQuery(filter, period)
  if (query === undefined) return
  for await (const run of eachWorkflow(client, query, { pageTimeoutMs, pageSize })) yield* notifiedOf(run)
}

export async function countNotified(client: TemporalClient, filter: NotificationFilter, from: number): Promise<number> {
  const query = closedQuery(filter, { from })
  return query === undefined ? 0 : (await within(client, pageTimeoutMs, () => client.workflow.count(query))).count
}

function closedQuery(filter: NotificationFilter, { from, to }: NotifiedPeriod): string | undefined {
  const kinds = [
    ...(wantsType(filter, 'transfer.delivered')
      ? [`(${transfersWith({ TransferState: 'delivered' }, `ExecutionStatus = 'Completed'`)})`]
      : []),
    ...(wantsType(filter, 'transfer.reversed') ? [`(WorkflowType = 'reversal' AND ExecutionStatus = 'Completed')`] : []),
  ]
  if (kinds.length === 0) return undefined
  const until = to === undefined ? [] : [`CloseTime < '${new Date(to).toISOString()}'`]
  const since = `CloseTime >= '${new Date(from).toISOString()}'`
  return [`(${kinds.join(' OR ')})`, since, ...until, ...conditionsOf(filter)].join(' AND ')
}

export async function listParked(client: TemporalClient, filter: NotificationFilter, most: number): Promise<NotifiedTransfer[]> {
  const query = transfersWith({ TransferState: 'parked' }, running, ...conditionsOf(filter))
  const found: NotifiedTransfer[] = []
  for await (const run of eachWorkflow(client, query, { pageTimeoutMs, pageSize })) if (found.push(...notifiedOf(run)) >= most) break
  return found
}

function notifiedOf(info: WorkflowExecutionInfo): NotifiedTransfer[] {
  const { workflowId, runId, startTime, closeTime, type } = info
  const { bridge, sourceChain, targetChain, lane, txHash, amount, decimals, tokenAmount, token, recipient, sourceTxHash } = toRow(info)
  const closedAt = closeTime?.getTime() ?? 0
  const facts = { bridge, sourceChain, targetChain, lane, txHash, amount, decimals, tokenAmount, token, recipient, sourceTxHash, closedAt }
  if (type === 'transfer')
    return isPlausibleTransfer(info) ? [{ kind: closeTime ? 'delivered' : 'parked', id: workflowId, runId, at: closedAt, ...facts }] : []
  const reversal = reversalIn(info)
  return reversal ? [{ kind: 'reversed', id: reversal.transfer, runId: reversal.run, at: startTime.getTime(), ...facts }] : []
}

function reversalIn({ workflowId, taskQueue }: WorkflowExecutionInfo): Reversal | undefined {
  if (!workflowId.startsWith(reversalPrefix) || taskQueue !== ledgerQueue) return undefined
  const end = workflowId.lastIndexOf(':')
  const [transfer, run] = [workflowId.slice(reversalPrefix.length, end), workflowId.slice(end + 1)]
  return transferIdParts(transfer) && /^[0-9a-f-]{36}$/.test(run) ? { transfer, run } : undefined
}
