import type { TemporalClient } from '../client/connection/client.ts'
import { resetToFirstTask, type RunId } from '../client/visibility/runs.ts'
import { recordReversal } from '../client/streams/reversals.ts'
import { restartTransfer } from '../client/transfers/start-transfer.ts'

/**
 * What may be wrong with a workflow, what is done about it, and why, for the Web UI. A transfer can be started again, since the chains know all that it
 * knows. A reset keeps operators' orders, which no chain knows: it sends a run again all its signals and updates.
 */
export const remedies = {
  undone: { action: 'start again', why: 'started again: it closed without an outcome' },
  effectGone: { action: 'start again', why: 'started again: its effect was undone' },
  /** A transfer: no task, no activity, no timer. */
  idle: { action: 'reset', why: 'it waited for nothing' },
  unanswered: { action: 'reset', why: 'no process answered its tasks' },
  unfitting: { action: 'reset', why: 'its history fits nothing that the code does' },
  /** A bug, which no reset heals. */
  failing: { action: 'none', why: 'its task fails' },
} as const

/** What is wrong with a workflow. */
export type Finding = keyof typeof remedies

/** Applies the remedy of a finding; false if it has none. Throws what the Temporal client throws, and as `restartTransfer`. */
export async function recover(client: TemporalClient, run: RunId, finding: Finding): Promise<boolean> {
  const { action, why } = remedies[finding]
  // Before, so that no crash comes between: who was told of the delivery is told of this.
  if (finding === 'effectGone') await recordReversal(client, run.workflowId)
  if (action === 'start again') await restartTransfer(client, run.workflowId, { why })
  if (action === 'reset') await resetToFirstTask(client, run, why)
  return action !== 'none'
}
