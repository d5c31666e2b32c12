import { listWorkflows, type TemporalClient, within } from '../connection/client.ts'
import { rethrowAs } from '../connection/errors.ts'
import { isPlausibleTransfer } from './run-proof.ts'
import { type TransferRow, toRow } from './transfer-list.ts'
import { closed, running, transfersWith } from './transfer-queries.ts'

export const mostListed = 2_000
/** The visibility store may list a closed run this late. */
export const lateMs = 30_000
const timeoutMs = 10_000

export async function listOpenAndEnded(client: TemporalClient, since: number) {
  const list = (...conditions: readonly string[]) =>
    within(client, timeoutMs, () => listWorkflows(client, transfersWith({}, ...conditions), { most: mostListed })).catch(rethrowAs({}))
  // Open transfers are listed first, so that a transfer that ends between the queries is in at least one list.
  const open = await list(running)
  return { open, ended: await list(closed, `CloseTime >= '${new Date(since).toISOString()}'`) }
}

/** The first `look` finds no changes. Throws the errors of `fromTemporal`. */
export function createTransferWatch(client: TemporalClient) {
  let known: ReadonlyMap<string, string> | undefined
  let lookedAt = 0

  return {
    async look(): Promise<{ readonly changed: readonly TransferRow[]; readonly isCut: boolean }> {
      const now = Date.now()
      const { open, ended } = await listOpenAndEnded(client, (known ? lookedAt : now) - lateMs)
      const rows = new Map<string, TransferRow>()
      // Lists have the newest run of an id first. In reverse order, this run is set last, and replaces the id's older
      // runs.
      for (const row of [...ended.toReversed(), ...open.toReversed()].filter(isPlausibleTransfer).map(toRow)) {
        const other = rows.get(row.id)
        if (!other || other.startedAt <= row.startedAt) rows.set(row.id, row)
      }
      const before = known
      const marks = new Map([...rows.values()].map((row) => [row.id, markOf(row)]))
      known = marks
      lookedAt = now
      const changed = before ? [...rows.values()].filter((row) => before.get(row.id) !== marks.get(row.id)) : []
      return { changed, isCut: open.length >= mostListed || ended.length >= mostListed }
    },
  }
}

function markOf({ state, execution, code, lane, txHash, startedAt }: TransferRow): string {
  return [state, execution, code, lane, txHash, startedAt].join(' ')
}
