import type { Client } from '@temporalio/client'
import { ifMissing } from '../../temporal/client/connection/errors.ts'
import type { Fleet } from './fleet.ts'

export type WorkShares = Readonly<Record<string, number>>

const atOnce = 20

/**
 * Counts the started tasks in all histories, by worker. Includes only processes that poll a queue. Temporal lists a run
 * for some time after it has deleted the run's history.
 */
export async function workShares(client: Client, { processes, byPid }: Fleet): Promise<WorkShares> {
  const polling = processes.filter(({ role }) => role !== 'intake' && role !== 'api')
  const shares: Record<string, number> = Object.fromEntries(polling.map(({ name }) => [name, 0]))
  const count = async ({ workflowId, runId }: { readonly workflowId: string; readonly runId: string }) => {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory().catch(ifMissing(undefined))
    const events = history?.events
    for (const { activityTaskStartedEventAttributes, workflowTaskStartedEventAttributes } of events ?? []) {
      const { identity } = activityTaskStartedEventAttributes ?? workflowTaskStartedEventAttributes ?? {}
      const name = byPid.get(Number(identity?.split('@')[0]))
      if (name !== undefined) shares[name] = (shares[name] ?? 0) + 1
    }
  }
  let reading: Promise<void>[] = []
  for await (const run of client.workflow.list()) {
    reading.push(count(run))
    if (reading.length < atOnce) continue
    await Promise.all(reading)
    reading = []
  }
  await Promise.all(reading)
  return shares
}

export function idleMembers(shares: WorkShares): string[] {
  return Object.keys(shares).filter((name) => shares[name] === 0)
}
