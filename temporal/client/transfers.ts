import type { WorkflowExecutionInfo } from '@temporalio/client'
import { RelayerError } from '../../domain/errors.ts'
import { mip61Of, type Mip61State } from '../../domain/stream/mip61-state.ts'
import type { TransferState } from '../../domain/transfer/transfer.ts'
import { transferStates } from '../../domain/transfer/transfer.ts'
import type { TransferStatus } from '../contracts/transfer.ts'
import { cancelSignal, retrySignal, statusQuery } from '../contracts/transfer.ts'
import { searchAttributes } from '../contracts/names.ts'
import type { TemporalClient } from './client.ts'
import { fromTemporal, isQueryRefused } from './errors.ts'
import { restartTransfer } from './start-transfer.ts'

/** A transfer as the server's visibility store knows it: all that a list needs, read without waking any worker. */
export interface TransferRow {
  readonly id: string
  /** Absent until the workflow's first task. */
  readonly state?: TransferState
  /** Of transfers of the native bridge; one whose completion reverted shows as initiated here, since a list knows no codes. */
  readonly mip61?: Mip61State
  /** How the workflow stands: RUNNING, COMPLETED; TERMINATED, FAILED… are closed without being done. */
  readonly execution: string
  readonly bridge?: string
  readonly sourceChain?: string
  readonly targetChain?: string
  readonly lane?: string
  readonly txHash?: string
  /** ISO 8601. */
  readonly startedAt: string
  readonly closedAt?: string
}

/** The full status where a worker or the result tells it; `partial` with what the server itself knows where not. */
export type TransferReport =
  | (TransferStatus & { readonly execution: string; readonly mip61?: Mip61State })
  | (TransferRow & { readonly partial: string })

export interface TransferFilter {
  readonly state?: TransferState | undefined
  /** Source or target. */
  readonly chain?: string | undefined
  /** Most rows. */
  readonly limit: number
}

const workflowType = 'transfer'

/** How long a worker may take to answer the query before the server's own knowledge is given. */
const queryTimeoutMs = 5_000
/** How long the server may take for what it knows itself; then it counts as unreachable. */
const serverTimeoutMs = 10_000

/** The status of a transfer, open or closed. Throws TRANSFER_NOT_FOUND, TEMPORAL_UNAVAILABLE. */
export async function readTransfer(client: TemporalClient, id: string): Promise<TransferReport> {
  const handle = client.workflow.getHandle(id)
  let info: Omit<WorkflowExecutionInfo, 'raw'>
  try {
    info = await client.withDeadline(Date.now() + serverTimeoutMs, () => handle.describe())
    if (info.type !== workflowType) throw new RelayerError('TRANSFER_NOT_FOUND', { facts: { transfer: id } })
    if (info.status.name === 'COMPLETED')
      return toReport(
        await client.withDeadline(Date.now() + serverTimeoutMs, () => handle.result() as Promise<TransferStatus>),
        info.status.name,
      )
  } catch (error) {
    throw fromTemporal(error, { gone: 'TRANSFER_NOT_FOUND' }, { transfer: id })
  }
  if (info.closeTime) return { ...toRow(info), partial: 'closed without an outcome; retry starts it again' }
  try {
    const status = await client.withDeadline(Date.now() + queryTimeoutMs, () => handle.query(statusQuery))
    return toReport(status, info.status.name)
  } catch (error) {
    if (isQueryRefused(error)) throw error
    return { ...toRow(info), partial: 'no worker of the target chain answered' }
  }
}

function toReport(status: TransferStatus, execution: string): TransferReport {
  const { transfer, state, code } = status
  const mip61 = mip61Of({ bridge: transfer.bridge, state, code })
  return { ...status, execution, ...(mip61 && { mip61 }) }
}

/** Transfers, newest first, one row per id. Throws TEMPORAL_UNAVAILABLE. */
export async function listTransfers(client: TemporalClient, filter: TransferFilter): Promise<TransferRow[]> {
  const rows = new Map<string, TransferRow>()
  const collect = async (): Promise<void> => {
    for await (const info of client.workflow.list({ query: toQuery(filter), pageSize: Math.min(filter.limit, 1000) })) {
      // An id that was started again has a run per start: the newest, which comes first, tells how it is.
      if (!rows.has(info.workflowId)) rows.set(info.workflowId, toRow(info))
      if (rows.size >= filter.limit) return
    }
  }
  try {
    await client.withDeadline(Date.now() + serverTimeoutMs, collect)
  } catch (error) {
    throw fromTemporal(error, {})
  }
  return [...rows.values()]
}

/** The visibility query of a filter. Values are checked by their callers' schemas (a state, a chain name): nothing to escape. */
export function toQuery({ state, chain }: Pick<TransferFilter, 'state' | 'chain'>): string {
  return [
    `WorkflowType = '${workflowType}'`,
    `ExecutionStatus != 'ContinuedAsNew'`,
    state && `${searchAttributes.TransferState.name} = '${state}'`,
    chain && `(${searchAttributes.SourceChain.name} = '${chain}' OR ${searchAttributes.TargetChain.name} = '${chain}')`,
  ]
    .filter(Boolean)
    .join(' AND ')
}

function toRow(info: Omit<WorkflowExecutionInfo, 'raw'>): TransferRow {
  const { TransferState: state, ...others } = searchAttributes
  const known = transferStates.find((name) => name === info.typedSearchAttributes.get(state))
  const fields = Object.entries(others).flatMap(([name, key]) => {
    const value = info.typedSearchAttributes.get(key)
    return value === undefined ? [] : [[name.charAt(0).toLowerCase() + name.slice(1), value]]
  })
  const facts = Object.fromEntries(fields) as Pick<TransferRow, 'bridge' | 'sourceChain' | 'targetChain' | 'lane' | 'txHash'>
  const mip61 = known && mip61Of({ bridge: facts.bridge ?? '', state: known })
  return {
    id: info.workflowId,
    ...(known && { state: known }),
    ...(mip61 && { mip61 }),
    execution: info.status.name,
    ...facts,
    startedAt: info.startTime.toISOString(),
    ...(info.closeTime && { closedAt: info.closeTime.toISOString() }),
  }
}

/** Wakes a transfer that waits or is parked. Throws TRANSFER_NOT_FOUND, TEMPORAL_UNAVAILABLE. */
export function retryTransfer(client: TemporalClient, id: string): Promise<void> {
  return known(id, () => client.workflow.getHandle(id).signal(retrySignal))
}

/** Asks a transfer that runs to end. Throws TRANSFER_NOT_FOUND, TEMPORAL_UNAVAILABLE. */
export function cancelTransfer(
  client: TemporalClient,
  id: string,
  order: { readonly operator: string; readonly reason: string },
): Promise<void> {
  return known(id, () => client.workflow.getHandle(id).signal(cancelSignal, order))
}

/** Starts a transfer again that is closed. Throws TRANSFER_NOT_FOUND, TEMPORAL_UNAVAILABLE, INTERNAL (its history holds no transfer). */
export function startTransferAgain(client: TemporalClient, id: string): Promise<void> {
  return known(id, () => restartTransfer(client, id))
}

async function known(id: string, call: () => Promise<void>): Promise<void> {
  try {
    await call()
  } catch (error) {
    throw fromTemporal(error, { gone: 'TRANSFER_NOT_FOUND' }, { transfer: id })
  }
}
