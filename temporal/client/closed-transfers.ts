import type { ChainName, TransferState } from '../../domain/transfer/transfer.ts'
import { searchAttributes } from '../contracts/names.ts'
import type { TemporalClient } from './client.ts'
import { ifGone } from './errors.ts'
import type { RunId } from './runs.ts'
import { transfersWith, undone } from './transfer-queries.ts'

/** Which closed runs: those that ended as delivered, or those that ended without an outcome. */
export type Closed = 'delivered' | 'undone'

/** The state of the latest run of an id. */
export type LatestRun = 'running' | 'undone' | TransferState | 'gone'

/** As many runs as one page of a visibility query, and so one batch of reads, holds. */
const pageSize = 200

export interface ClosedRunsQuery {
  readonly kind: Closed
  readonly chain: ChainName
  /** Closed between these two, ms since the epoch. */
  readonly from: number
  readonly to: number
  /** Of the page before; empty: the first page. */
  readonly token: string
}

/** The token of the last page is empty. */
export interface ClosedRunsPage {
  readonly runs: readonly RunId[]
  readonly token: string
}

/** One page of the closed runs to a chain, in the server's order (a dev server has no ORDER BY). Throws what the Temporal client throws. */
export async function listClosedRuns(client: TemporalClient, { kind, chain, from, to, token }: ClosedRunsQuery): Promise<ClosedRunsPage> {
  const query = transfersWith(
    { TargetChain: chain, TransferState: kind === 'delivered' ? 'delivered' : undefined },
    kind === 'delivered' ? `ExecutionStatus = 'Completed'` : undone,
    `CloseTime >= '${new Date(from).toISOString()}' AND CloseTime <= '${new Date(to).toISOString()}'`,
  )
  const { executions, nextPageToken } = await client.workflowService.listWorkflowExecutions({
    namespace: client.options.namespace,
    pageSize,
    query,
    nextPageToken: Buffer.from(token, 'base64'),
  })
  return {
    runs: (executions ?? []).flatMap(({ execution }) =>
      execution?.workflowId && execution.runId ? [{ workflowId: execution.workflowId, runId: execution.runId }] : [],
    ),
    token: Buffer.from(nextPageToken ?? []).toString('base64'),
  }
}

/** By the server's own word, not that of the visibility store, which lags. Throws what the Temporal client throws. */
export async function latestRun(client: TemporalClient, id: string): Promise<LatestRun> {
  const run = await client.workflow.getHandle(id).describe().catch(ifGone(undefined))
  if (!run) return 'gone'
  if (run.status.name === 'RUNNING' || run.status.name === 'CONTINUED_AS_NEW') return 'running'
  if (run.status.name !== 'COMPLETED') return 'undone'
  return (run.typedSearchAttributes.get(searchAttributes.TransferState) as TransferState | undefined) ?? 'gone'
}
