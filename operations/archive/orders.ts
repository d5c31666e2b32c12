import { createHash } from 'node:crypto'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { KeptOrders } from '../../temporal/client/settings/kept-orders.ts'
import { orderSchema } from './ended-schema.ts'
import type { ArchiveStore } from './store.ts'
import { linesOf, parsedLine, readThrough, updateText, writeThrough } from './update.ts'

/** One line of the log of orders. */
export interface OrderRecord {
  /** Version of this shape. An added field does not change it. */
  readonly version: 1
  /** ISO 8601: when it was obeyed. For the cancel of an operator's transaction: when it was ordered. */
  readonly at: string
  readonly subject: KeptOrders['subject']
  readonly id: string
  readonly kind: string
  readonly by: string
  readonly reason: string
  /** Its arguments: a nonce, a window, fees; `valueWei` of a payment. */
  readonly facts?: object
  /** How often it came in a row. Default: once. */
  readonly times?: number
  /** The whole order, for orders to the settings. */
  readonly order?: object
}

/** With the SHA-256 of the previous line (first line: of `portage:<day>`), so that no change or removal is unseen. */
type Chained = OrderRecord & { readonly previous: string }

/** The result of one export. */
export interface OrderExport {
  readonly found: number
  readonly added: number
  /**
   * Subjects whose oldest kept order is younger than the last export, so that orders in between may be lost, and
   * subjects that could not be read. Only the first ones are named, then their number.
   */
  readonly maybeIncomplete: readonly string[]
  /** Subjects with orders that are not in the log: they are malformed, or the text of their day is full. */
  readonly skipped: readonly string[]
  /** SHA-256 of the last line of each day that was written. Kept elsewhere, they prove that nothing was cut off. */
  readonly heads: Readonly<Record<string, string>>
}

/** Longest line of a subject that strangers can start, characters: twice the longest transaction of a chain. */
const longestOrder = 500_000
/** A longer day, characters, takes only orders to settings, lanes and streams: V8 has no string of 2^29. */
const fullDay = 100_000_000
/** Most subjects that are named. */
const mostNamed = 20
const progressName = 'orders/progress.json'

/**
 * Appends orders that are not in the log yet to the text of their day (UTC). Repeating an export writes nothing. Throws
 * ARCHIVE_UNAVAILABLE, ARCHIVE_INVALID.
 * @param through when the orders were read, ms since the epoch; undefined: not every order since the last export was
 * looked for
 */
export async function exportOrders(store: ArchiveStore, kept: readonly KeptOrders[], through: number | undefined): Promise<OrderExport> {
  const last = await lastExport(store)
  const skipped = new Set<string>()
  const records = kept.flatMap((one) => recordsOf(one, skipped))
  const days = new Map<string, OrderRecord[]>()
  for (const record of records.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))) {
    const day = record.at.slice(0, 10)
    days.set(day, [...(days.get(day) ?? []), record])
  }
  const heads: Record<string, string> = {}
  let added = 0
  for (const [day, ofDay] of days) {
    let missing: OrderRecord[] = []
    await updateText(store, nameOf(day), (text) => {
      const lines = linesOf(text)
      const known = new Set(lines.map((line) => keyOf(parsedLine(line, nameOf(day)) as Chained)))
      missing = withRoom(
        ofDay.filter((record) => !known.has(keyOf(record))),
        text?.length ?? 0,
        skipped,
      )
      if (missing.length === 0) return undefined
      for (const record of missing) lines.push(JSON.stringify({ ...record, previous: hashOf(lines.at(-1), day) } satisfies Chained))
      heads[day] = hashOf(lines.at(-1), day)
      return `${lines.join('\n')}\n`
    })
    if (missing.length === 0) delete heads[day]
    added += missing.length
  }
  // Orders of a ledger that was not read are still missing: the next export must look for them.
  const isBehind = kept.some(({ unread, subject }) => unread && !isAnyones(subject))
  if (through !== undefined && !isBehind) await writeThrough(store, progressName, through)
  const maybeIncomplete = kept.filter(({ isFull, orders, unread }) => unread || (isFull && (orders[0]?.at ?? 0) > last)).map(({ id }) => id)
  return { found: records.length, added, maybeIncomplete: named(maybeIncomplete), skipped: named([...skipped]), heads }
}

/** Anybody with access to Temporal can start any number of these. */
function isAnyones(subject: KeptOrders['subject']): boolean {
  return subject === 'transfer' || subject === 'operator transaction'
}

function withRoom(records: readonly OrderRecord[], length: number, skipped: Set<string>): OrderRecord[] {
  let room = fullDay - length
  return records.filter((record) => {
    room -= JSON.stringify(record).length
    if (room > 0 || !isAnyones(record.subject)) return true
    skipped.add(record.id)
    return false
  })
}

function named(subjects: readonly string[]): readonly string[] {
  return subjects.length <= mostNamed ? subjects : [...subjects.slice(0, mostNamed), `and ${subjects.length - mostNamed} more`]
}

/** Checks the chain of a day's lines. Throws ARCHIVE_INVALID with the number of the line that does not fit. */
export async function verifyDay(store: ArchiveStore, day: string): Promise<{ readonly orders: number; readonly head: string }> {
  const lines = linesOf((await store.get(nameOf(day)))?.text)
  for (const [index, line] of lines.entries()) {
    if ((parsedLine(line, nameOf(day)) as Chained).previous === hashOf(lines[index - 1], day)) continue
    throw new RelayerError('ARCHIVE_INVALID', {
      detail: 'A line before it was changed, added or removed.',
      facts: { name: nameOf(day), line: index + 1 },
    })
  }
  return { orders: lines.length, head: hashOf(lines.at(-1), day) }
}

/** Time of the last export, ms since the epoch; 0: never. Throws ARCHIVE_UNAVAILABLE, ARCHIVE_INVALID. */
export async function lastExport(store: ArchiveStore): Promise<number> {
  return (await readThrough(store, progressName)) ?? 0
}

/** Malformed orders are skipped: they must not keep others out of the log. */
function recordsOf({ subject, id, orders }: KeptOrders, skipped: Set<string>): OrderRecord[] {
  return orders.flatMap((one) => {
    const read = orderSchema.safeParse(one)
    if (!read.success || (isAnyones(subject) && JSON.stringify(read.data).length > longestOrder)) {
      skipped.add(id)
      return []
    }
    const { kind, by, reason, at, facts, times } = read.data
    return [
      {
        ...{ version: 1 as const, at: new Date(at).toISOString(), subject, id, kind, by, reason },
        ...(facts && { facts }),
        ...(times !== undefined && { times }),
        ...(one.order && { order: one.order }),
      },
    ]
  })
}

/**
 * One order has one key. A repeated order has another number of times, and its own line. An operator's transaction is
 * sent and cancelled once: its time is not part of the key, because a later run may report another time.
 */
function keyOf({ at, subject, id, kind, by, reason, facts, times, order }: OrderRecord): string {
  return JSON.stringify([subject === 'operator transaction' ? '' : at, subject, id, kind, by, reason, facts, times, order])
}

function hashOf(line: string | undefined, day: string): string {
  return createHash('sha256')
    .update(line ?? `portage:${day}`)
    .digest('hex')
}

/** `orders/2026/11/22.jsonl` */
function nameOf(day: string): string {
  return `orders/${day.replaceAll('-', '/')}.jsonl`
}
