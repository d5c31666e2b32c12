import { isOutcome, transferStates } from '../../../domain/transfer/transfer.ts'
import type { searchAttributes } from '../../contracts/names.ts'
import { listWorkflows, type TemporalClient, within } from '../connection/client.ts'

/** Runs that closed without an outcome. */
export const undone = `ExecutionStatus IN ('Failed', 'Terminated', 'TimedOut', 'Canceled')`
export const running = `ExecutionStatus = 'Running'`

/**
 * Quotes a text for a visibility query. The server's parser knows SQL's escapes: a quote or a backslash would end or
 * change the text.
 */
export function quoted(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

/** The visibility query of the transfers with these search attributes (undefined: any) and conditions. */
export function transfersWith(
  values: { readonly [Name in keyof typeof searchAttributes]?: string | undefined },
  ...conditions: readonly string[]
): string {
  const attributes = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [`${name} = ${quoted(value)}`]))
  return [`WorkflowType = 'transfer'`, ...attributes, ...conditions].join(' AND ')
}

/** For `transfersWith`: from or to this chain; undefined adds nothing. */
export function fromOrTo(chain: string | undefined): string[] {
  return chain === undefined ? [] : [`(SourceChain = ${quoted(chain)} OR TargetChain = ${quoted(chain)})`]
}

/** Query of each count. Open states count only running transfers, since a terminated one keeps its last state. */
const countQueries: readonly (readonly [string, string])[] = [
  ...transferStates.map(
    (state) => [state, transfersWith({ TransferState: state }, isOutcome(state) ? `ExecutionStatus = 'Completed'` : running)] as const,
  ),
  ['undone', transfersWith({}, undone)],
]

/**
 * Counts transfers by state, and under `undone` those that closed without an outcome. Sends eleven queries in sequence:
 * the server allows ten visibility queries per second, and others need some.
 */
export async function countTransfers(client: TemporalClient, timeoutMs: number): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  await within(client, timeoutMs, async () => {
    for (const [name, query] of countQueries) counts.set(name, (await client.workflow.count(query)).count)
  })
  return counts
}

/**
 * Parked transfers, the newest first, at most `most`, for `statusOf`. Anyone who reaches Temporal chooses ids of runs;
 * here they are only queried and counted.
 */
export async function parkedTransfers(client: TemporalClient, most: number, timeoutMs: number) {
  const query = transfersWith({ TransferState: 'parked' }, running)
  const runs = await within(client, timeoutMs, () => listWorkflows(client, query, { most }))
  return runs.map(({ workflowId: id, runId }) => ({ number: id, id, runId, state: 'parked' as const, running: true }))
}
