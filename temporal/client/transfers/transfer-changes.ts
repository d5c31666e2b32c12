import type { WorkflowExecutionInfo } from '@temporalio/client'
import { listWorkflows, type TemporalClient, within } from '../connection/client.ts'
import { rethrowAs } from '../connection/errors.ts'
import { type TransferRow, toRow } from './transfer-list.ts'
import { isPlausibleTransfer } from '../visibility/plausible-runs.ts'
import { running, transfersWith } from './transfer-queries.ts'

/** Open transfers that are looked at, the newest, and as many that have ended since the look before. */
const mostListed = 2_000
/** The visibility store may show an end some seconds late, ms. */
const lateMs = 30_000
const timeoutMs = 10_000

/** What the lists of the server show to have changed since the look before. */
export interface TransferChanges {
  readonly changed: readonly TransferRow[]
  /** More are open, or have ended, than are looked at: some changes are not told. */
  readonly isCut: boolean
}

/**
 * Tells what has changed in the lists of transfers, of runs of the form that Portage gives them; two queries for each
 * look. The first look only remembers: nothing has changed by it. Throws TEMPORAL_UNAVAILABLE and the like.
 */
export function createTransferWatch(client: TemporalClient): { look(): Promise<TransferChanges> } {
  let known: ReadonlyMap<string, string> | undefined
  let lookedAt = 0
  const list = (...conditions: readonly string[]): Promise<WorkflowExecutionInfo[]> =>
    within(client, timeoutMs, () => listWorkflows(client, transfersWith({}, ...conditions), { most: mostListed })).catch(rethrowAs({}))

  return {
    async look() {
      const now = Date.now()
      const since = new Date((known ? lookedAt : now) - lateMs).toISOString()
      // The closed ones last: one that ends between the two is in both, and its end counts.
      const open = await list(running)
      const closed = await list(`ExecutionStatus NOT IN ('Running', 'ContinuedAsNew')`, `CloseTime >= '${since}'`)
      const rows = new Map<string, TransferRow>()
      // The newest run of an id comes first in each list.
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
