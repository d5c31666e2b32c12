import type { Client } from '@temporalio/client'
import { isSettled, lookAtTransfers, type Seen } from '../demo/follow.ts'

/** Transfers in Temporal, by key. If a transfer has several runs, prefers an open run, then a run with an outcome. */
export async function newestRuns(client: Client): Promise<Map<string, Seen>> {
  const seen = new Map<string, Seen>()
  for (const one of await lookAtTransfers(client)) {
    const known = seen.get(one.key)
    if (!known || one.running || (!known.running && isDone(one))) seen.set(one.key, one)
  }
  return seen
}

/** Whether the run has closed with an outcome. A terminated run has no outcome. */
export function isDone(one: Seen): boolean {
  return !one.running && isSettled(one) && ['delivered', 'rejected', 'declined', 'cancelled'].includes(one.state)
}
