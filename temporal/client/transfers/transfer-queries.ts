import { isOutcome, transferStates } from '../../../domain/transfer/transfer.ts'
import type { searchAttributes } from '../../contracts/names.ts'
import { listWorkflows, type TemporalClient, within } from '../connection/client.ts'

export const undone = `ExecutionStatus IN ('Failed', 'Terminated', 'TimedOut', 'Canceled')`
export const running = `ExecutionStatus = 'Running'`
export const closed = `ExecutionStatus NOT IN ('Running', 'ContinuedAsNew')`

/** Quotes a text for the server's SQL, where a bare quote or backslash would end or change the text. */
export function quoted(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

export function transfersWith(
  values: { readonly [Name in keyof typeof searchAttributes]?: string | undefined },
  ...conditions: readonly string[]
): string {
  const attributes = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [`${name} = ${quoted(value)}`]))
  return [`WorkflowType = 'transfer'`, ...attributes, ...conditions].join(' AND ')
}

export function fromOrTo(chain: string | undefined): string[] {
  return chain === undefined ? [] : [`(SourceChain = ${quoted(chain)} OR TargetChain = ${quoted(chain)})`]
}

/** Sends one query after the other, because the server allows ten a second. */
export async function countTransfers(client: TemporalClient, timeoutMs: number): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  const count = async (name: string, query: string) => counts.set(name, (await client.workflow.count(query)).count)
  await within(client, timeoutMs, async () => {
    for (const TransferState of transferStates)
      await count(TransferState, transfersWith({ TransferState }, isOutcome(TransferState) ? `ExecutionStatus = 'Completed'` : running))
    await count('undone', transfersWith({}, undone))
  })
  return counts
}

export function countOpenTransfers(
  client: TemporalClient,
  values: { readonly Bridge: string; readonly TargetChain: string },
  timeoutMs: number,
): Promise<number> {
  return within(client, timeoutMs, async () => (await client.workflow.count(transfersWith(values, running))).count)
}

/** Use the result only for queries and counts, because anyone with access to Temporal can choose the ids. */
export async function parkedTransfers(client: TemporalClient, most: number, timeoutMs: number) {
  const query = transfersWith({ TransferState: 'parked' }, running)
  const runs = await within(client, timeoutMs, () => listWorkflows(client, query, { most }))
  return runs.map(({ workflowId: id, runId }) => ({ number: id, id, runId, state: 'parked' as const, running: true }))
}
