import { isOutcome, transferStates } from '../../domain/transfer/transfer.ts'
import { searchAttributes } from '../contracts/names.ts'
import type { TemporalClient } from './client.ts'

const transfers = `WorkflowType = 'transfer'`
const undone = `ExecutionStatus IN ('Failed', 'Terminated', 'TimedOut', 'Canceled')`

/** What is counted under which name. Open states count only what runs: a terminated transfer keeps its last state. */
const queries: readonly (readonly [string, string])[] = [
  ...transferStates.map((state) => {
    const status = isOutcome(state) ? 'Completed' : 'Running'
    return [state, `${transfers} AND ${searchAttributes.TransferState.name} = '${state}' AND ExecutionStatus = '${status}'`] as const
  }),
  ['undone', `${transfers} AND ${undone}`],
]

/**
 * The number of transfers in each state, and under `undone` those that were closed without an outcome. Eleven queries, one after the other: the server allows
 * ten visibility queries per second, and others need some. Throws what the Temporal client throws.
 */
export async function countTransfers(client: TemporalClient, timeoutMs: number): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  await client.withDeadline(Date.now() + timeoutMs, async () => {
    for (const [state, query] of queries) counts.set(state, (await client.workflow.count(query)).count)
  })
  return counts
}
