import type { Client, WorkflowExecutionInfo } from '@temporalio/client'
import type { StreamNames } from '../../../domain/stream/stream-names.ts'

/** A client of one namespace, for the functions of this folder: no other room calls the SDK's methods, catches its errors or names its types. */
export type TemporalClient = Client & { readonly streamNames?: StreamNames | undefined }

/** Ends all calls of `work` with an error after `timeoutMs`: without it they wait for as long as no worker, or no server, answers. */
export function within<Result>(client: TemporalClient, timeoutMs: number, work: () => Promise<Result>): Promise<Result> {
  return client.withDeadline(Date.now() + timeoutMs, work)
}

/** The runs that match a visibility query, at most so many of those that are wanted. Throws what the Temporal client throws. */
export async function listWorkflows(
  client: TemporalClient,
  query: string,
  { most = Infinity, isWanted }: { readonly most?: number | undefined; readonly isWanted?: (run: WorkflowExecutionInfo) => boolean } = {},
): Promise<WorkflowExecutionInfo[]> {
  const found: WorkflowExecutionInfo[] = []
  for await (const run of client.workflow.list({ query })) {
    if (isWanted?.(run) ?? true) found.push(run)
    if (found.length >= most) break
  }
  return found
}

/**
 * As `listWorkflows`, all of them: each page has this deadline of its own, ms, since there may be many. A page is asked for by `next`, with the deadline of that call.
 */
export async function listByPage(client: TemporalClient, query: string, pageTimeoutMs: number): Promise<WorkflowExecutionInfo[]> {
  const found: WorkflowExecutionInfo[] = []
  const rows = client.workflow.list({ query })[Symbol.asyncIterator]()
  for (;;) {
    const row = await within(client, pageTimeoutMs, () => rows.next())
    if (row.done) return found
    found.push(row.value)
  }
}

/** For sorting: the newest first. */
export function newestFirst(a: WorkflowExecutionInfo, b: WorkflowExecutionInfo): number {
  return b.startTime.getTime() - a.startTime.getTime()
}
