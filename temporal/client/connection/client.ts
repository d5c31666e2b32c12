import type { Client, WorkflowExecutionInfo } from '@temporalio/client'
import type { StreamNames } from '../../../domain/stream/stream.ts'

/** Answers of up to `usual` bytes are always parsed. `left`: bytes of longer answers that are still parsed. */
export interface AnswerBudget {
  readonly usual: number
  left: number
}

/** In temporal/client, functions whose docstrings name no error codes throw the errors of Temporal's SDK. */
export type TemporalClient = Client & {
  readonly streamNames?: StreamNames | undefined
  readonly budget?: AnswerBudget | undefined
  withBudget?(this: void, budget: AnswerBudget): TemporalClient
}

/** Limits the time of the calls in `work`. Calls outside of `within` have no time limit. */
export function within<Result>(client: TemporalClient, timeoutMs: number, work: () => Promise<Result>): Promise<Result> {
  return client.withDeadline(Date.now() + timeoutMs, work)
}

interface Paging {
  readonly pageTimeoutMs?: number
  readonly pageSize?: number | undefined
}

export async function* eachWorkflow(
  client: TemporalClient,
  query: string,
  { pageTimeoutMs, pageSize }: Paging = {},
): AsyncGenerator<WorkflowExecutionInfo> {
  const runs = client.workflow.list({ query, ...(pageSize && { pageSize }) })[Symbol.asyncIterator]()
  for (;;) {
    const next = pageTimeoutMs === undefined ? await runs.next() : await within(client, pageTimeoutMs, () => runs.next())
    if (next.done) return
    yield next.value
  }
}

const largestPage = 1_000

export async function listWorkflows(
  client: TemporalClient,
  query: string,
  {
    most = Infinity,
    isWanted,
    pageSize = isWanted || most > largestPage ? undefined : most,
    ...paging
  }: Paging & { readonly most?: number | undefined; readonly isWanted?: (run: WorkflowExecutionInfo) => boolean } = {},
): Promise<WorkflowExecutionInfo[]> {
  const found: WorkflowExecutionInfo[] = []
  for await (const run of eachWorkflow(client, query, { ...paging, pageSize })) {
    if (isWanted?.(run) ?? true) found.push(run)
    if (found.length >= most) break
  }
  return found
}

export function newestFirst(a: WorkflowExecutionInfo, b: WorkflowExecutionInfo): number {
  return b.startTime.getTime() - a.startTime.getTime()
}
