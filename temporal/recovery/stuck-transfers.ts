import type { ChainName } from '../../domain/transfer/transfer.ts'
import { eachWorkflow, type TemporalClient } from '../client/connection/client.ts'
import { describeOpenRun, readHistory, type RunId } from '../client/visibility/runs.ts'
import { searchAttributes } from '../contracts/names.ts'
import { diagnoseTask, type Finding, isIdle } from './remedies.ts'

const atOnce = 20
/** A run that was active within this time may be between two tasks. */
const betweenTasksMs = 20_000
/** Tries of a task after which its transfer counts as unanswered. A process that stops or pauses causes fewer tries. */
const triesUnanswered = 3

type StuckTransfer = RunId & { readonly finding: Extract<Finding, 'idle' | 'unanswered'> }

/**
 * Finds transfers without a timer or a task, and transfers whose tasks nobody answers. A restore of Temporal can cause
 * both.
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
  for await (const run of eachWorkflow(client, query)) if (batch.push(run) >= atOnce) await inspectBatch()
  await inspectBatch()
  return found.filter((run) => run !== undefined)
}

async function inspect(client: TemporalClient, { workflowId, runId }: RunId, quietSince: number): Promise<StuckTransfer | undefined> {
  const run = await describeOpenRun(client, { workflowId, runId })
  if (!run || run.transferState === 'parked') return undefined
  const { taskTries, activity } = run
  const isPending = taskTries !== undefined
  if (isPending ? taskTries < triesUnanswered : activity) return undefined
  const events = await readHistory(client, run)
  const finding = isPending ? diagnoseTask(events)?.finding : isIdle(events, quietSince) ? 'idle' : undefined
  return finding === 'unanswered' || finding === 'idle' ? { workflowId, runId, finding } : undefined
}
