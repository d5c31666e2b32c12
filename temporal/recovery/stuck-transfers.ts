import type { ChainName } from '../../domain/transfer/transfer.ts'
import type { TemporalClient } from '../client/connection/client.ts'
import { describeOpenRun, listRuns, readHistory, type RunId } from '../client/visibility/runs.ts'
import { searchAttributes } from '../contracts/names.ts'
import { diagnoseTask, isIdle } from './diagnose.ts'
import type { Finding } from './remedies.ts'

/** Descriptions in parallel. */
const atOnce = 20
/** A run that was active within this time, ms, may be between two tasks. */
const betweenTasksMs = 20_000
/** Unanswered tries of one workflow task. A process that stops, or was paused for a while, leaves fewer behind. */
const triesUnanswered = 3

type StuckTransfer = RunId & { readonly finding: Extract<Finding, 'idle' | 'unanswered'> }

/**
 * Running transfers that cannot go on. This happens when Temporal is set back under a process: the process waits for a
 * timer that Temporal has lost, or takes tasks and does not answer, since its cached run differs.
 */
export async function findStuckTransfers(
  client: TemporalClient,
  chain: ChainName,
  before: number,
  quietMs = betweenTasksMs,
): Promise<StuckTransfer[]> {
  const { TargetChain, TransferState } = searchAttributes
  const query = [
    `WorkflowType = 'transfer' AND ExecutionStatus = 'Running'`,
    `${TargetChain.name} = '${chain}' AND ${TransferState.name} != 'parked'`,
    `StartTime < '${new Date(before).toISOString()}'`,
  ].join(' AND ')
  const found: (StuckTransfer | undefined)[] = []
  const batch: RunId[] = []
  const inspectBatch = async () => {
    found.push(...(await Promise.all(batch.splice(0).map((run) => inspect(client, run, Date.now() - quietMs)))))
  }
  for await (const run of listRuns(client, query)) if (batch.push(run) >= atOnce) await inspectBatch()
  await inspectBatch()
  return found.filter((run) => run !== undefined)
}

async function inspect(client: TemporalClient, { workflowId, runId }: RunId, quietSince: number): Promise<StuckTransfer | undefined> {
  const run = await describeOpenRun(client, { workflowId, runId })
  if (!run || run.transferState === 'parked') return undefined
  const { taskTries, hasPendingActivities } = run
  const isPending = taskTries !== undefined
  if (isPending ? taskTries < triesUnanswered : hasPendingActivities) return undefined
  const events = await readHistory(client, run)
  const finding = isPending ? diagnoseTask(events)?.finding : isIdle(events, quietSince) ? 'idle' : undefined
  return finding === 'unanswered' || finding === 'idle' ? { workflowId, runId, finding } : undefined
}
