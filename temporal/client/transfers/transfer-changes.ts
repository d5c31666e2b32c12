import type { WorkflowExecutionInfo } from '@temporalio/client'
import { listWorkflows, type TemporalClient, within } from '../connection/client.ts'
import { rethrowAs } from '../connection/errors.ts'
import { type TransferRow, toRow } from './transfer-list.ts'
import { isPlausibleTransfer } from '../visibility/plausible-runs.ts'
import { running, transfersWith } from './transfer-queries.ts'

/** Open transfers, and those that ended since the last reading: the newest. */
const mostListed = 2_000
/** The visibility store may list an end this much later, ms. */
const lateMs = 30_000
const timeoutMs = 10_000

export interface TransferChanges {
  readonly changed: readonly TransferRow[]
  /** A list is longer than a reading, so changes may be missing. */
  readonly isCut: boolean
}

/** A reading costs two queries. The first reports no changes. Throws TEMPORAL_UNAVAILABLE and the like. */
export function createTransferWatch(client: TemporalClient): { look(): Promise<TransferChanges> } {
  let known: ReadonlyMap<string, string> | undefined
  let lookedAt = 0
  const list = (...conditions: readonly string[]): Promise<WorkflowExecutionInfo[]> =>
    within(client, timeoutMs, () => listWorkflows(client, transfersWith({}, ...conditions), { most: mostListed })).catch(rethrowAs({}))

  return {
    async look() {
      const now = Date.now()
      const since = new Date((known ? lookedAt : now) - lateMs).toISOString()
      // A transfer that ends between the queries is in both lists: its end counts.
      const open = await list(running)
      const closed = await list(`ExecutionStatus NOT IN ('Running', 'ContinuedAsNew')`, `CloseTime >= '${since}'`)
      const rows = new Map<string, TransferRow>()
      // Each list has the newest run of an id first.
      for (const row of [...closed.toReversed(), ...open.toReversed()].filter(isPlausibleTransfer).map(toRow)) {
        const other = rows.get(row.id)
        if (!other || other.startedAt <= row.startedAt) rows.set(row.id, row)
      }
      const before = known
      const marks = new Map([...rows.values()].map((row) => [row.id, markOf(row)]))
      known = marks
      lookedAt = now
      const changed = before ? [...rows.values()].filter((row) => before.get(row.id) !== marks.get(row.id)) : []
      return { changed, isCut: open.length >= mostListed || closed.length >= mostListed }
    },
  }
}

function markOf({ state, execution, code, lane, txHash, startedAt }: TransferRow): string {
  return [state, execution, code, lane, txHash, startedAt].join(' ')
}
