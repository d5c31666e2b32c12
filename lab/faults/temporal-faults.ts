import { randomUUID } from 'node:crypto'
import type { Client } from '@temporalio/client'
import type { TemporalServer } from '../devnet/temporal/temporal.ts'
import type { PlannedFault, ServerKind, TemporalKind } from './plan.ts'

const types = { transfer: 'transfer', lane: 'lane' } as const

/** Wipes Temporal, or sets it back to a copy that is a few seconds old. Clients see a crash. */
export async function breakTemporal(
  temporal: TemporalServer,
  { kind, forMs }: PlannedFault<ServerKind>,
  wait: (ms: number) => Promise<void>,
): Promise<void> {
  if (kind === 'temporal-wiped') return temporal.restartFrom('nothing')
  const copy = await temporal.copy()
  await wait(2 * forMs)
  await temporal.restartFrom(copy)
}

/** Returns the workflow's id, or undefined if no workflow was running or the fault failed. */
export async function breakWorkflow(client: Client, fault: PlannedFault<TemporalKind>): Promise<string | undefined> {
  const type = fault.kind.startsWith('lane') ? types.lane : types.transfer
  const running: string[] = []
  for await (const { workflowId } of client.workflow.list({ query: `WorkflowType = '${type}' AND ExecutionStatus = 'Running'` })) {
    running.push(workflowId)
  }
  const id = running.toSorted()[Math.floor(fault.dice * running.length)]
  if (id === undefined) return undefined
  const done = fault.kind.endsWith('terminated') ? terminate(client, id) : resetBack(client, id, fault.depth)
  // The fault fails if the workflow has ended in the meantime, or has not completed a task to which it could be reset.
  return done.then(
    () => id,
    () => undefined,
  )
}

export async function terminate(client: Client, id: string): Promise<void> {
  await client.workflow.getHandle(id).terminate('a fault run')
}

/**
 * Resets a workflow to one of its first tasks (1: the first). Later steps and timers are lost. Temporal applies later
 * signals and updates again.
 */
export async function resetBack(client: Client, id: string, task: number): Promise<void> {
  const handle = client.workflow.getHandle(id)
  const [{ runId }, history] = await Promise.all([handle.describe(), handle.fetchHistory()])
  const completed = (history.events ?? []).filter(({ workflowTaskCompletedEventAttributes }) => workflowTaskCompletedEventAttributes)
  const chosen = completed[Math.min(task, completed.length) - 1]
  if (!chosen) throw new Error(`${id} has not completed a workflow task yet`)
  await client.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: id, runId },
    reason: 'a fault run',
    workflowTaskFinishEventId: chosen.eventId ?? null,
    requestId: randomUUID(),
  })
}
