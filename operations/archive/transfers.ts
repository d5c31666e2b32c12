import { mapLimited } from '../../runtime/map-limited.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { type ClosedRun, listClosedRuns, readClosedRun } from '../../temporal/client/transfers/closed-runs.ts'
import type { KeptOrders } from '../../temporal/client/settings/kept-orders.ts'
import { isUnreadable, newOnes, sliceText, type TransferRecord, transferRecord } from './records.ts'
import type { ArchiveStore } from './store.ts'
import { linesOf, parsedLine, readThrough, updateText, writeThrough } from './update.ts'

/** Transfers that closed in the same ten minutes share a text, ms. */
const sliceMs = 10 * 60_000
/** Temporal lists a closed run at most this long after its end, ms. Usually it takes a second. */
const listLagMs = 2 * 60_000
/** Each pass begins this long before the end of the archive, ms, for runs that were listed late. */
const overlapMs = 60 * 60_000
/** Period of one query to the list, ms. The server allows ten queries per second, and others need some. */
const listedMs = 60 * 60_000
const progressName = 'transfers/progress.json'
/** Histories that are read at the same time. */
const atOnce = 8

/** How far the archive of transfers goes. */
export interface ArchiveProgress {
  /** Every run that closed before it is archived, ISO 8601. */
  readonly through: string
}

/** The result of one pass. */
export interface ArchivePass extends Partial<ArchiveProgress> {
  /** Where it began, ISO 8601. */
  readonly from: string
  /** It began after the end of the archive, so `through` stays: the next pass begins there. */
  readonly leftOut?: true
  /** Closed runs that it found, and how many of them were not in the archive. */
  readonly found: number
  readonly added: number
  /** Runs whose result or message could not be read, mostly because a key is missing: their lines have no outcome. */
  readonly unreadable: number
  /** Orders to the transfers of that time. */
  readonly orders: readonly KeptOrders[]
}

interface PassOptions {
  /** ms since the epoch. Default: an hour before the end of the last pass, or before `ordersThrough`. */
  readonly since?: number | undefined
  /** ms since the epoch. Orders to transfers that closed later may be missing from the log. */
  readonly ordersThrough: number
  /** Where to begin if nothing is archived yet, ms since the epoch. */
  readonly oldest: number
  readonly now: number
}

/** Throws ARCHIVE_UNAVAILABLE, ARCHIVE_INVALID. */
export async function readProgress(store: ArchiveStore): Promise<ArchiveProgress | undefined> {
  const through = await readThrough(store, progressName)
  return through === undefined ? undefined : { through: isoOf(through) }
}

/**
 * Writes a line for each closed run of a transfer, into one text for each ten minutes. Lines that are there stay,
 * missing ones are added. Repeating a pass writes nothing; a failed pass is continued by the next. Throws
 * ARCHIVE_UNAVAILABLE, ARCHIVE_INVALID, TEMPORAL_UNAVAILABLE and the like.
 */
export async function archiveTransfers(
  client: TemporalClient,
  store: ArchiveStore,
  { since, ordersThrough, oldest, now }: PassOptions,
): Promise<ArchivePass> {
  const through = await readThrough(store, progressName)
  const from = sliceOf(since ?? (through === undefined ? oldest : Math.max(oldest, Math.min(through, ordersThrough) - overlapMs)))
  const end = sliceOf(now - listLagMs)
  // Runs that Temporal has forgotten are given up. All others before `from` must be archived.
  const leftOut = from > Math.max(oldest, through ?? 0)
  let [found, added, unreadable] = [0, 0, 0]
  const orders: KeptOrders[] = []
  for (let at = from; at < end; at += listedMs) {
    const until = Math.min(at + listedMs, end)
    const runs = await listClosedRuns(client, at, until)
    found += runs.length
    for (const [slice, ofSlice] of bySlice(runs)) {
      const written = await addToSlice(client, store, slice, ofSlice)
      added += written.added
      unreadable += written.unreadable
      for (const record of written.records) orders.push(...ordersOf(record))
    }
    // A pass that began before the end of the last one may be behind it.
    if (!leftOut && until > (through ?? 0)) await writeThrough(store, progressName, until)
  }
  return { from: isoOf(from), ...(await readProgress(store)), ...(leftOut && { leftOut }), found, added, unreadable, orders }
}

function bySlice(runs: readonly ClosedRun[]): Map<number, ClosedRun[]> {
  const slices = new Map<number, ClosedRun[]>()
  for (const run of runs) {
    const slice = sliceOf(Date.parse(run.closedAt))
    const found = slices.get(slice)
    if (found) found.push(run)
    else slices.set(slice, [run])
  }
  return slices
}

/** The records of the slice afterwards, and the number of new lines. */
async function addToSlice(client: TemporalClient, store: ArchiveStore, slice: number, runs: readonly ClosedRun[]) {
  const name = sliceName(slice)
  let archived = linesOf((await store.get(name))?.text).map((line) => parsedLine(line, name) as TransferRecord)
  const known = new Set(archived.filter((record) => !isUnreadable(record)).map(({ runId }) => runId))
  const missing = runs.filter(({ runId }) => !known.has(runId))
  const read = await mapLimited(missing, atOnce, async (run) => {
    const ended = await readClosedRun(client, run)
    return ended ? [transferRecord(run, ended)] : []
  })
  const records = read.flat()
  let added: TransferRecord[] = []
  if (records.length > 0) {
    await updateText(store, name, (text) => {
      const lines = linesOf(text)
      archived = lines.map((line) => parsedLine(line, name) as TransferRecord)
      added = newOnes(archived, records)
      return added.length === 0 ? undefined : sliceText(lines, added)
    })
  }
  return { records: [...archived, ...added], added: added.length, unreadable: records.filter(isUnreadable).length }
}

function ordersOf({ id, orders = [] }: TransferRecord): KeptOrders[] {
  if (orders.length === 0) return []
  return [{ subject: 'transfer', id, orders: orders.map((order) => ({ ...order, at: Date.parse(order.at) })), isFull: false }]
}

/** `transfers/2026/11/22/1720.jsonl`, in UTC. */
function sliceName(slice: number): string {
  const [, year, month, day, hour, minute] = /^(\d+)-(\d\d)-(\d\d)T(\d\d):(\d\d)/.exec(isoOf(slice)) ?? []
  return `transfers/${year}/${month}/${day}/${hour}${minute}.jsonl`
}

function sliceOf(ms: number): number {
  return ms - (ms % sliceMs)
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}
