import { isOutcome, transferStates } from '../../../domain/transfer/transfer.ts'
import type { searchAttributes } from '../../contracts/names.ts'
import { listWorkflows, type TemporalClient, within } from '../connection/client.ts'

/** Runs that were closed without an outcome. */
export const undone = `ExecutionStatus IN ('Failed', 'Terminated', 'TimedOut', 'Canceled')`
export const running = `ExecutionStatus = 'Running'`

/**
 * A text for a visibility query. The server's parser knows SQL's escapes: a quote and a backslash would end the text,
 * or change it.
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

/** For `transfersWith`: to or from this chain; nothing for undefined. */
export function fromOrTo(chain: string | undefined): string[] {
  return chain === undefined ? [] : [`(SourceChain = ${quoted(chain)} OR TargetChain = ${quoted(chain)})`]
}

/** What is counted under which name. Open states count only what runs: a terminated transfer keeps its last state. */
const countQueries: readonly (readonly [string, string])[] = [
  ...transferStates.map(
    (state) => [state, transfersWith({ TransferState: state }, isOutcome(state) ? `ExecutionStatus = 'Completed'` : running)] as const,
  ),
  ['undone', transfersWith({}, undone)],
]

/**
 * The number of transfers in each state, and under `undone` those that were closed without an outcome. Eleven queries,
 * one after the other: the server allows ten visibility queries per second, and others need some. Throws what the
 * Temporal client throws.
 */
export async function countTransfers(client: TemporalClient, timeoutMs: number): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  await within(client, timeoutMs, async () => {
    for (const [name, query] of countQueries) counts.set(name, (await client.workflow.count(query)).count)
  })
  return counts
}

/**
 * Some of the transfers that are parked, the newest first: as `statusOf` takes them. Whoever reaches Temporal chooses
 * the ids of his runs, which are only asked and counted here. Throws what the Temporal client throws.
 */
export async function parkedTransfers(client: TemporalClient, most: number, timeoutMs: number) {
  const query = transfersWith({ TransferState: 'parked' }, running)
  const runs = await within(client, timeoutMs, () => listWorkflows(client, query, { most }))
  return runs.map(({ workflowId: id, runId }) => ({ number: id, id, runId, state: 'parked' as const, running: true }))
}
