import type { Client } from '@temporalio/client'
import type { ChainName, Transfer, TransferState } from '../../domain/transfer/transfer.ts'
import { searchAttributes } from '../contracts/names.ts'
import { restartTransfer, storedTransfer } from './start-transfer.ts'
import { WorkflowNotFoundError } from '@temporalio/common'

/** One run of a transfer. */
export interface ClosedRun {
  readonly id: string
  readonly runId: string
}

/** Which closed runs: those that ended as delivered, or those that ended without an outcome. */
export type Closed = 'delivered' | 'undone'

/** How the latest run of an id stands. */
export type LatestRun = 'running' | 'undone' | TransferState | 'gone'

/** As many runs as one page of a visibility query, and so one batch of reads, holds. */
const pageSize = 200

export interface RunsWanted {
  readonly kind: Closed
  readonly chain: ChainName
  /** Closed between these two, ms since the epoch. */
  readonly from: number
  readonly to: number
  /** Of the page before; empty: the first page. */
  readonly token: string
}

/** Transfers that closed, as the Temporal server keeps them. Its methods throw what the Temporal client throws. */
export interface ClosedTransfers {
  /** One page of the closed runs to a chain, in the server's order (a dev server has no ORDER BY). The token of the last page is empty. */
  page(wanted: RunsWanted): Promise<{ runs: ClosedRun[]; token: string }>
  /** The server's own word on the latest run of an id, not that of the visibility store, which lags. */
  latest(id: string): Promise<LatestRun>
  /** The transfer that a run was started with. */
  stored(run: ClosedRun): Promise<Transfer>
  restart(id: string, why: string): Promise<void>
}

export function createClosedTransfers(client: Client): ClosedTransfers {
  return {
    page: (wanted) => readPage(client, wanted),
    latest: (id) => latestRun(client, id),
    stored: ({ id, runId }) => storedTransfer(client, id, runId),
    restart: (id, why) => restartTransfer(client, id, why),
  }
}

async function readPage(client: Client, wanted: RunsWanted): Promise<{ runs: ClosedRun[]; token: string }> {
  const { executions, nextPageToken } = await client.workflowService.listWorkflowExecutions({
    namespace: client.options.namespace,
    pageSize,
    query: toQuery(wanted),
    nextPageToken: Buffer.from(wanted.token, 'base64'),
  })
  return {
    runs: (executions ?? []).flatMap(({ execution }) =>
      execution?.workflowId && execution.runId ? [{ id: execution.workflowId, runId: execution.runId }] : [],
    ),
    token: Buffer.from(nextPageToken ?? []).toString('base64'),
  }
}

function toQuery({ kind, chain, from, to }: RunsWanted): string {
  return [
    `WorkflowType = 'transfer'`,
    `${searchAttributes.TargetChain.name} = '${chain}'`,
    kind === 'delivered'
      ? `ExecutionStatus = 'Completed' AND ${searchAttributes.TransferState.name} = 'delivered'`
      : `ExecutionStatus IN ('Failed', 'Terminated', 'TimedOut', 'Canceled')`,
    `CloseTime >= '${new Date(from).toISOString()}' AND CloseTime <= '${new Date(to).toISOString()}'`,
  ].join(' AND ')
}

async function latestRun(client: Client, id: string): Promise<LatestRun> {
  try {
    const { status, typedSearchAttributes } = await client.workflow.getHandle(id).describe()
    if (status.name === 'RUNNING' || status.name === 'CONTINUED_AS_NEW') return 'running'
    if (status.name !== 'COMPLETED') return 'undone'
    return (typedSearchAttributes.get(searchAttributes.TransferState) as TransferState | undefined) ?? 'gone'
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'gone'
    throw error
  }
}
