import type { ChainName, TransferState } from '../../../domain/transfer/transfer.ts'
import { searchAttributes } from '../../contracts/names.ts'
import type { TemporalClient } from '../connection/client.ts'
import { ifGone } from '../connection/errors.ts'
import type { RunId } from '../visibility/runs.ts'
import { transfersWith, undone } from './transfer-queries.ts'

/** The state of the latest run of an id. */
export type LatestRun = 'running' | 'undone' | TransferState | 'gone'

/** As many runs as one page of a visibility query, and so one batch of reads, holds. */
const pageSize = 200

/** A page of the closed runs to a chain. */
export interface ClosedRunsPage {
  /** Those that ended as delivered, or those that ended without an outcome. */
  kind: 'delivered' | 'undone'
  chain: ChainName
  /** Closed between these two, ms since the epoch. */
  from: number
  to: number
  /** Of the page before; empty: the first page, and after the last one. */
  token: string
}

/** The runs of a page, in the server's order (a dev server has no ORDER BY), and the token for the next. Throws what the Temporal client throws. */
export async function listClosedRuns(client: TemporalClient, page: ClosedRunsPage): Promise<{ runs: RunId[]; token: string }> {
  const { kind, chain, from, to, token } = page
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
