import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { type ClosedRun, listClosedRuns, readClosedRun } from '../../temporal/client/transfers/closed-runs.ts'
import type { KeptOrders } from '../../temporal/client/settings/kept-orders.ts'
import { isUnreadable, type TransferRecord, transferRecord } from './records.ts'
import { newOnes, sliceText } from './slice-text.ts'
import type { ArchiveStore } from './store.ts'
import { linesOf, updateText } from './update.ts'

/** Closed transfers of so long go into one text, ms. */
const sliceMs = 10 * 60_000
/** A run is in the list of closed runs so long after its end, ms: usually within a second. */
const listLagMs = 2 * 60_000
/** So far before what is archived already each pass looks again, ms: for runs that the list showed late. */
const overlapMs = 60 * 60_000
/** What one question to the list is about, ms: the server allows ten of them per second, and others need some. */
const listedMs = 60 * 60_000
const progressName = 'transfers/progress.json'
/** Histories that are read at a time. */
const atOnce = 8

/** How far the archive of transfers goes. */
export interface ArchiveProgress {
  /** Every run that closed before it is archived, ISO 8601. */
  readonly through: string
}

/** What one pass did. */
export interface ArchivePass extends Partial<ArchiveProgress> {
  /** Where it began to look, ISO 8601. */
  readonly from: string
  /** It began after the end of what was archived, so that `through` stays: the next pass begins there. Absent: nothing was left out. */
  readonly leftOut?: true
  /** Closed runs that it found, and those that were not in the archive. */
  readonly found: number
  readonly added: number
  /** Of those found, the runs whose result or message could not be read, mostly for want of a key: their lines have no outcome. */
  readonly unreadable: number
  /** What was ordered of the transfers of that time. */
  readonly orders: readonly KeptOrders[]
}

interface PassOptions {
  /** ms since the epoch: where to begin; absent: an hour before the end of the last pass, or before `ordersThrough`. */
  readonly since?: number | undefined
  /** ms since the epoch: orders of transfers that closed later are not in the log yet, perhaps. */
  readonly ordersThrough: number
  /** ms since the epoch: where to begin if nothing is archived yet. */
  readonly oldest: number
  readonly now: number
}

/** Throws ARCHIVE_UNAVAILABLE, ARCHIVE_INVALID. */
export async function readProgress(store: ArchiveStore): Promise<ArchiveProgress | undefined> {
  return progressIn((await store.get(progressName))?.text)
}

function progressIn(text: string | undefined): ArchiveProgress | undefined {
  if (text === undefined) return undefined
  try {
    const { through } = JSON.parse(text) as Partial<ArchiveProgress>
    if (typeof through === 'string' && !Number.isNaN(Date.parse(through))) return { through }
  } catch {}
  throw new RelayerError('ARCHIVE_INVALID', { facts: { name: progressName } })
}

/**
 * Writes a line for each run of a transfer that has closed, into one text for each ten minutes: what is there stays, what is missing is added. The same pass
 * again writes nothing. One that fails is made again from where it was. Throws ARCHIVE_UNAVAILABLE, ARCHIVE_INVALID, TEMPORAL_UNAVAILABLE and the like.
 */
export async function archiveTransfers(
  client: TemporalClient,
  store: ArchiveStore,
  { since, ordersThrough, oldest, now }: PassOptions,
): Promise<ArchivePass> {
  const known = await readProgress(store)
  const through = known && Date.parse(known.through)
  const from = sliceOf(since ?? (through === undefined ? oldest : Math.max(oldest, Math.min(through, ordersThrough) - overlapMs)))
  const end = sliceOf(now - listLagMs)
  // What Temporal has forgotten is not waited for. Of all else, what comes before `from` must be archived.
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
    // Of a pass that began before the end of the last one, this may be less than is archived.
    if (!leftOut && until > (through ?? 0)) await writeProgress(store, until)
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

/** What is archived of the slice afterwards, and how many lines of it are new. */
async function addToSlice(client: TemporalClient, store: ArchiveStore, slice: number, runs: readonly ClosedRun[]) {
  const name = sliceName(slice)
  let archived = linesOf((await store.get(name))?.text).map((line) => parsed(line, name))
  const known = new Set(archived.filter((record) => !isUnreadable(record)).map(({ runId }) => runId))
  const missing = runs.filter(({ runId }) => !known.has(runId))
  const records: TransferRecord[] = []
  for (let at = 0; at < missing.length; at += atOnce) {
    const read = missing.slice(at, at + atOnce).map(async (run) => {
      const ended = await readClosedRun(client, run)
      return ended ? [transferRecord(run, ended)] : []
    })
    records.push(...(await Promise.all(read)).flat())
  }
  let added: TransferRecord[] = []
  if (records.length > 0) {
    await updateText(store, name, (text) => {
      const lines = linesOf(text)
      archived = lines.map((line) => parsed(line, name))
      added = newOnes(archived, records)
      return added.length === 0 ? undefined : sliceText(lines, added)
    })
  }
  return { records: [...archived, ...added], added: added.length, unreadable: records.filter(isUnreadable).length }
}

function parsed(line: string, name: string): TransferRecord {
  try {
    return JSON.parse(line) as TransferRecord
  } catch (cause) {
    throw new RelayerError('ARCHIVE_INVALID', { facts: { name }, cause })
  }
}

function ordersOf({ id, orders = [] }: TransferRecord): KeptOrders[] {
  if (orders.length === 0) return []
  return [{ subject: 'transfer', id, orders: orders.map((order) => ({ ...order, at: Date.parse(order.at) })), isFull: false }]
}

/** Another process may have come further: that stays. */
function writeProgress(store: ArchiveStore, through: number): Promise<void> {
  return updateText(store, progressName, (text) => {
    const known = progressIn(text)
    return known && Date.parse(known.through) >= through
      ? undefined
      : `${JSON.stringify({ through: isoOf(through) } satisfies ArchiveProgress)}\n`
  })
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
