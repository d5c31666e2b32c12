import type { WorkflowExecutionInfo } from '@temporalio/client'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import { auditId, type AuditInput, type AuditReport } from '../contracts/audit.ts'
import { chainQueue, searchAttributes } from '../contracts/names.ts'
import { listWorkflows, newestFirst, type TemporalClient, within } from './client.ts'
import { rethrowAs } from './errors.ts'

/** An audit as the server knows it; without its report while it runs, and when it failed. */
export interface AuditRow {
  readonly chain: ChainName
  readonly workflowId: string
  readonly execution: string
  /** ISO 8601. */
  readonly startedAt: string
  readonly report?: AuditReport
}

/** An audit waits for a block or two, and for nodes that are down; longer than this is for `audit show`. */
const runTimeoutMs = 120_000
const serverTimeoutMs = 10_000

/** Runs an audit now, beside those of the schedule, and waits for its end. Throws TEMPORAL_UNAVAILABLE. */
export function runAudit(client: TemporalClient, input: AuditInput): Promise<AuditReport> {
  const run = () =>
    client.workflow.execute<(input: AuditInput) => Promise<AuditReport>>('audit', {
      workflowId: `${auditId(input.chain)}-by-hand`,
      taskQueue: chainQueue(input.chain),
      args: [input],
      typedSearchAttributes: [{ key: searchAttributes.TargetChain, value: input.chain }],
      workflowIdConflictPolicy: 'USE_EXISTING',
      staticSummary: `deliveries on ${input.chain} in the last ${input.hours} hours, asked by hand`,
    })
  return within(client, runTimeoutMs, run).catch(rethrowAs({}, { chain: input.chain }))
}

/** The latest audits of each chain, newest first. Throws TEMPORAL_UNAVAILABLE. */
export async function listAudits(client: TemporalClient, chains: readonly ChainName[], perChain: number): Promise<AuditRow[]> {
  const newest = async (chain: ChainName): Promise<AuditRow[]> => {
    const runs = await listWorkflows(client, `WorkflowType = 'audit' AND ${searchAttributes.TargetChain.name} = '${chain}'`)
    const shown = runs.toSorted(newestFirst).slice(0, perChain)
    return Promise.all(shown.map((info) => toRow(client, chain, info)))
  }
  return (await within(client, serverTimeoutMs, () => Promise.all(chains.map(newest))).catch(rethrowAs({}))).flat()
}

async function toRow(
  client: TemporalClient,
  chain: ChainName,
  { workflowId, runId, status, startTime }: WorkflowExecutionInfo,
): Promise<AuditRow> {
  const row = { chain, workflowId, execution: status.name, startedAt: startTime.toISOString() }
  if (status.name !== 'COMPLETED') return row
  return { ...row, report: (await client.workflow.getHandle(workflowId, runId).result()) as AuditReport }
}
