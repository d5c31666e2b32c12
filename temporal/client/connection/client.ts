import type { Client, WorkflowExecutionInfo } from '@temporalio/client'
import type { StreamNames } from '../../../domain/stream/stream-names.ts'

/**
 * A client of one namespace. Only `temporal/client` calls the SDK's methods, catches its errors or names its types. A
 * function of this folder throws what the Temporal client throws, unless its docstring names codes.
 */
export type TemporalClient = Client & { readonly streamNames?: StreamNames | undefined }

/**
 * Ends all calls of `work` with an error after `timeoutMs`. Without a limit they wait until a worker, or the server,
 * answers.
 */
export function within<Result>(client: TemporalClient, timeoutMs: number, work: () => Promise<Result>): Promise<Result> {
  return client.withDeadline(Date.now() + timeoutMs, work)
}

/** The runs that match a visibility query and are wanted, at most `most`. */
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

/** The runs that match a visibility query, of which there may be many. Each page has its own deadline. */
export async function* eachByPage(
  client: TemporalClient,
  query: string,
  { pageTimeoutMs, pageSize }: { readonly pageTimeoutMs: number; readonly pageSize?: number },
): AsyncGenerator<WorkflowExecutionInfo> {
  const runs = client.workflow.list({ query, ...(pageSize && { pageSize }) })[Symbol.asyncIterator]()
  for (;;) {
    const next = await within(client, pageTimeoutMs, () => runs.next())
    if (next.done) return
    yield next.value
  }
}

/** All of `eachByPage`. */
export async function listByPage(client: TemporalClient, query: string, pageTimeoutMs: number): Promise<WorkflowExecutionInfo[]> {
  const found: WorkflowExecutionInfo[] = []
  for await (const run of eachByPage(client, query, { pageTimeoutMs })) found.push(run)
  return found
}

/** Compares for a sort by start, the newest first. */
export function newestFirst(a: WorkflowExecutionInfo, b: WorkflowExecutionInfo): number {
  return b.startTime.getTime() - a.startTime.getTime()
}
