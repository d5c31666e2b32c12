import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { TransferStatus } from '../contracts/transfer.ts'
import { listWorkflows, type TemporalClient, within } from './client.ts'
import { fromTemporal, isGone } from './errors.ts'
import type { RunId } from './runs.ts'
import { readableTransfer } from './start-transfer.ts'
import { transfersWith } from './transfer-queries.ts'

/** A closed run of a transfer that did not go on in another one. */
export interface EndedRun extends RunId {
  /** Temporal's word: COMPLETED, or TERMINATED, FAILED… (without an outcome; intake, stream or audit start it again). */
  readonly execution: string
  /** ISO 8601. */
  readonly startedAt: string
  readonly closedAt: string
}

/** What a run was for, and how it ended. */
export interface EndedTransfer {
  /** Undefined: what it was started with is no transfer. */
  readonly transfer: Transfer | undefined
  /** Undefined: it has no outcome. */
  readonly status: TransferStatus | undefined
}

const timeoutMs = 30_000

/** The runs that closed at `from` or later and before `to`, ms since the epoch, in order of their end. Throws TEMPORAL_UNAVAILABLE and the like. */
export async function listEndedRuns(client: TemporalClient, from: number, to: number): Promise<EndedRun[]> {
  const [first, end] = [from, to].map((at) => new Date(at).toISOString())
  const query = transfersWith(
    {},
    `ExecutionStatus IN ('Completed', 'Failed', 'Terminated', 'TimedOut', 'Canceled')`,
    `CloseTime >= '${first}' AND CloseTime < '${end}'`,
  )
  const runs = await within(client, timeoutMs, () => listWorkflows(client, query)).catch(rethrow)
  return runs
    .flatMap(({ workflowId, runId, status, startTime, closeTime }) =>
      closeTime
        ? [{ workflowId, runId, execution: status.name, startedAt: startTime.toISOString(), closedAt: closeTime.toISOString() }]
        : [],
    )
    .toSorted((a, b) => compare(a.closedAt, b.closedAt) || compare(a.runId, b.runId))
}

/** What became of it: two reads of its history. Undefined: it is gone since it was listed. Throws TEMPORAL_UNAVAILABLE and the like. */
export async function readEndedRun(client: TemporalClient, { workflowId, runId, execution }: EndedRun): Promise<EndedTransfer | undefined> {
  const result = () => client.workflow.getHandle(workflowId, runId, { followRuns: false }).result() as Promise<TransferStatus>
  try {
    return await within(client, timeoutMs, async () => {
      const [transfer, status] = await Promise.all([
        readableTransfer(client, workflowId, runId),
        execution === 'COMPLETED' ? result() : undefined,
      ])
      return { transfer, status }
    })
  } catch (error) {
    if (isGone(error)) return undefined
    throw fromTemporal(error, {}, { transfer: workflowId })
  }
}

/** How long closed workflows are kept in the namespace, hours. Throws TEMPORAL_UNAVAILABLE and the like. */
export async function retentionHours(client: TemporalClient): Promise<number> {
  const { namespace } = client.options
  const { config } = await within(client, timeoutMs, () => client.workflowService.describeNamespace({ namespace })).catch(rethrow)
  return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / 3_600
}

function rethrow(error: unknown): never {
  throw fromTemporal(error, {})
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
