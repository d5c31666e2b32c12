import type { Client } from '@temporalio/client'
import { until } from '../devnet/until.ts'

export interface Closed {
  /** ms since the epoch. */
  readonly closedAt: number
  readonly stateTransitions: number
  readonly historyEvents: number
  readonly historyBytes: number
  readonly workflowId: string
}

/** Pause between two counts, ms. Counting makes the server read all matches of the query. */
const everyMs = 500

/**
 * Resolves with the closed workflows of the query once at least `count` workflows have closed. Throws Error after half
 * an hour, or with the reason that `giveUp` returns.
 */
export async function allClosed(client: Client, query: string, count: number, giveUp?: () => string | undefined): Promise<Closed[]> {
  const closed = `${query} AND ExecutionStatus != 'Running'`
  const counted = async () => (await client.workflow.count(closed)).count >= count
  await until(counted, { timeoutMs: 1_800_000, everyMs, what: `${count} workflows to close`, giveUp })
  return closedOf(client, query)
}

export async function closedOf(client: Client, query: string): Promise<Closed[]> {
  const all: Closed[] = []
  for await (const { closeTime, raw, historyLength, historySize, workflowId } of client.workflow.list({
    query: `${query} AND ExecutionStatus != 'Running'`,
    pageSize: 1_000,
  }))
    all.push({
      closedAt: closeTime?.getTime() ?? Number.NaN,
      stateTransitions: Number(raw.stateTransitionCount ?? 0),
      historyEvents: historyLength,
      historyBytes: historySize ?? 0,
      workflowId,
    })
  return all
}

export async function inParallel(count: number, width: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: Math.min(width, count) }, async () => {
      while (next < count) await work(next++)
    }),
  )
}
