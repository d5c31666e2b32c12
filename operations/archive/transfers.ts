import { z } from 'zod'
import { groupBy } from '../../domain/group-by.ts'
import { mapLimited } from '../../runtime/map-limited.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { type ClosedRun, listClosedRuns, readClosedRun } from '../../temporal/client/transfers/closed-runs.ts'
import type { KeptOrders } from '../../temporal/client/settings/kept-orders.ts'
import { isUnreadable, newOnes, sliceText, type TransferRecord, transferRecord } from './records.ts'
import { type ArchiveStore, linesOf, parsedLine, readThrough, updateText, writeThrough } from './store.ts'

const hourMs = 3_600_000
const sliceMs = 10 * 60_000
const listLagMs = 2 * 60_000
/** Overlap of two passes, ms. Temporal may list runs late. */
const overlapMs = hourMs
/** Period of one query, ms. Shorter periods would need more queries, and the server allows ten per second. */
const listedMs = hourMs
const progressName = 'transfers/progress.json'
const atOnce = 8

const recordSchema = z
  .looseObject({
    ...{ id: z.string(), runId: z.string(), unreadable: z.string().optional() },
    orders: z.array(z.looseObject({ at: z.iso.datetime() })).optional(),
  })
  .transform((record) => record as unknown as TransferRecord)

export type Freshness = ReturnType<typeof freshnessOf>

interface PassOptions {
  /**
   * Start of the pass, ms since the epoch. Default: an hour before the end of the archive or of the order log,
   * whichever is earlier, but at least `oldest`. Without an archive: `oldest`.
   */
  readonly since?: number | undefined
  readonly ordersThrough: number
  readonly oldest: number
  readonly now: number
}

/** End of the archive, ms since the epoch, read like `readThrough`. Throws ARCHIVE_UNAVAILABLE and ARCHIVE_INVALID. */
export function readProgress(store: ArchiveStore): Promise<number | undefined> {
  return readThrough(store, progressName)
}

/**
 * Adds the runs that closed since the last pass. Continues where a failed pass ended. Throws ARCHIVE_* and errors of
 * Temporal.
 */
export async function archiveTransfers(client: TemporalClient, store: ArchiveStore, { since, ordersThrough, oldest, now }: PassOptions) {
  const through = await readProgress(store)
  const from = sliceOf(since ?? (through === undefined ? oldest : Math.max(oldest, Math.min(through, ordersThrough) - overlapMs)))
  const end = sliceOf(now - listLagMs)
  const leftOut = from > Math.max(oldest, through ?? 0)
  let [found, added, unreadable] = [0, 0, 0]
  const orders: KeptOrders[] = []
  for (let at = from; at < end; at += listedMs) {
    const until = Math.min(at + listedMs, end)
    const runs = await listClosedRuns(client, at, until)
    found += runs.length
    for (const [slice, ofSlice] of groupBy(runs, ({ closedAt }) => sliceOf(Date.parse(closedAt)))) {
      const written = await addToSlice(client, store, slice, ofSlice)
      added += written.added
      unreadable += written.unreadable
      for (const record of written.records) orders.push(...ordersOf(record))
    }
    if (!leftOut && until > (through ?? 0)) await writeThrough(store, progressName, until)
  }
  return {
    ...{ from: isoOf(from), through: isoOf(await readProgress(store)) },
    /**
     * True if this pass began later than `through`, and so left out the runs in between. `through` is then unchanged.
     */
    leftOut: leftOut || undefined,
    ...{ found, added, unreadable, orders },
  }
}

async function addToSlice(client: TemporalClient, store: ArchiveStore, slice: number, runs: readonly ClosedRun[]) {
  const name = sliceName(slice)
  let archived = linesOf((await store.get(name))?.text).map((line) => parsedLine(line, name, recordSchema))
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
      archived = lines.map((line) => parsedLine(line, name, recordSchema))
      added = newOnes(archived, records)
      return added.length === 0 ? undefined : sliceText(lines, added)
    })
  }
  return { records: [...archived, ...added], added: added.length, unreadable: records.filter(isUnreadable).length }
}

export function freshnessOf(through: number | undefined, retentionHours: number, now: number) {
  const behindHours = through === undefined ? retentionHours : Math.max(0, now - through) / hourMs
  const share = behindHours / retentionHours
  const state = share >= 0.9 ? 'losing' : share >= 0.5 ? 'late' : 'fresh'
  return { through: isoOf(through), behindHours: Math.round(behindHours * 100) / 100, retentionHours, state } as const
}

function ordersOf({ id, orders = [] }: TransferRecord): KeptOrders[] {
  if (orders.length === 0) return []
  return [{ subject: 'transfer', id, orders: orders.map((order) => ({ ...order, at: Date.parse(order.at) })), isFull: false }]
}

function sliceName(slice: number): string {
  const [, year, month, day, hour, minute] = /^(\d+)-(\d\d)-(\d\d)T(\d\d):(\d\d)/.exec(isoOf(slice)) ?? []
  return `transfers/${year}/${month}/${day}/${hour}${minute}.jsonl`
}

function sliceOf(ms: number): number {
  return ms - (ms % sliceMs)
}

function isoOf<Time extends number | undefined>(ms: Time) {
  return (ms === undefined ? undefined : new Date(ms).toISOString()) as Time extends number ? string : undefined
}
