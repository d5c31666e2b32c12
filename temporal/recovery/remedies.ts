import type { TemporalClient } from '../client/connection/client.ts'
import { resetToFirstTask, type RunId } from '../client/visibility/runs.ts'
import { recordReversal, restartTransfer } from '../client/transfers/start-transfer.ts'

/** A transfer can start again: chains know its state. A reset keeps operators' orders, which no chain knows. */
export const remedies = {
  undone: { action: 'start again', why: 'started again: it closed without an outcome' },
  effectGone: { action: 'start again', why: 'started again: its effect was undone' },
  idle: { action: 'reset', why: 'it waited for nothing' },
  unanswered: { action: 'reset', why: 'no process answered its tasks' },
  unfitting: { action: 'reset', why: 'the code does not match its history' },
  /** A bug. No reset heals it. */
  failing: { action: 'none', why: 'its task fails' },
} as const

export type Finding = keyof typeof remedies

/** False: it has none. Throws as `restartTransfer`. */
export async function recover(client: TemporalClient, run: RunId, finding: Finding): Promise<boolean> {
  const { action, why } = remedies[finding]
  // First, so that no crash prevents it: receivers must be notified of the reversal.
  if (finding === 'effectGone') await recordReversal(client, run.workflowId)
  if (action === 'start again') await restartTransfer(client, run.workflowId, { why })
  if (action === 'reset') await resetToFirstTask(client, run, why)
  return action !== 'none'
}
