import type { Client } from '@temporalio/client'
import { isOutcome, transferStates } from '../domain/transfer/transfer.ts'
import type { Metrics } from '../observability/metrics.ts'
import { searchAttributes } from '../temporal/contracts/names.ts'

/** Eleven counts per refresh, against the server's 10 visibility queries per second: scrapes that come sooner get the last figures. */
const refreshMs = 30_000
/** A scraper waits 10 s by default, and the other figures must not be late for these. */
const timeoutMs = 2_000

const transfers = `WorkflowType = 'transfer'`
const undone = `ExecutionStatus IN ('Failed', 'Terminated', 'TimedOut', 'Canceled')`

/** Series of `portage_transfers` and what they count. Open states count only what runs: what was terminated keeps its last state. */
const queries: readonly (readonly [string, string])[] = [
  ...transferStates.map((state) => {
    const status = isOutcome(state) ? 'Completed' : 'Running'
    return [state, `${transfers} AND ${searchAttributes.TransferState.name} = '${state}' AND ExecutionStatus = '${status}'`] as const
  }),
  ['undone', `${transfers} AND ${undone}`],
]

/** Brings `portage_transfers` up to date, at most every 30 s. Never throws: without Temporal the last figures stay. */
export function createTransferCounts(client: Client, metrics: Pick<Metrics, 'transfers'>): () => Promise<void> {
  let refreshedAt = -Infinity
  let refreshing: Promise<void> | undefined
  const refresh = async (): Promise<void> => {
    // One after the other, so that a scrape does not take the whole budget of the server's visibility queries at once.
    for (const [state, query] of queries) metrics.transfers.set({ state }, (await client.workflow.count(query)).count)
  }
  return async () => {
    if (Date.now() - refreshedAt < refreshMs) return
    refreshing ??= client
      .withDeadline(Date.now() + timeoutMs, refresh)
      .catch(() => {})
      .finally(() => {
        refreshedAt = Date.now()
        refreshing = undefined
      })
    await refreshing
  }
}
