import { createHash } from 'node:crypto'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { KeptOrders } from '../../temporal/client/settings/kept-orders.ts'
import { orderSchema } from './ended-schema.ts'
import type { ArchiveStore } from './store.ts'
import { linesOf, updateText } from './update.ts'

/** One line of the log of orders. */
export interface OrderRecord {
  /** Of this shape. A field that is added does not change it. */
  readonly version: 1
  /** ISO 8601: when it was obeyed; of the cancel of an operator's transaction, when that was ordered. */
  readonly at: string
  readonly subject: KeptOrders['subject']
  readonly id: string
  readonly kind: string
  readonly by: string
  readonly reason: string
  /** What it named: a nonce, a window, fees; of a payment `valueWei`. */
  readonly facts?: object
  /** How often it came one after the other; absent: once. */
  readonly times?: number
  /** Of the settings: the whole order. */
  readonly order?: object
}

/** The same with the SHA-256 of the line before (of the first: of the text `portage:<day>`), so that no line can be changed or taken out unseen. */
type Chained = OrderRecord & { readonly previous: string }

/** What one export did. */
export interface OrderExport {
  readonly found: number
  readonly added: number
  /**
   * Subjects whose oldest kept order is younger than the last export, so that some between may have been dropped, and those that nobody answered for. Of many
   * the first, and their number.
   */
  readonly maybeIncomplete: readonly string[]
  /** Subjects with orders that are none of Portage's (their time or shape), or that found no room in the text of their day: these are not in the log. */
  readonly skipped: readonly string[]
  /** SHA-256 of the last line of each day that was written. Who keeps them elsewhere can prove that nothing was cut off. */
  readonly heads: Readonly<Record<string, string>>
}

/** Longest line of what anyone who reaches Temporal can write, characters: the longest transaction that chains take has half of it. */
const longestOrder = 500_000
/** From so many characters on a day takes only orders to settings, lanes and streams: V8 has no string of 2^29. */
const fullDay = 100_000_000
/** Subjects that are named. */
const mostNamed = 20
const progressName = 'orders/progress.json'

/**
 * Appends what is not in the log yet, to the text of its day (UTC). The same export again writes nothing. Throws ARCHIVE_UNAVAILABLE, ARCHIVE_INVALID.
 * @param through when the orders were read, ms since the epoch; undefined: some that were given since the last export were not looked for
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
      const known = new Set(lines.map((line) => keyOf(parsed(line, nameOf(day)))))
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
  // Of a ledger that was not read, the next export must not take its orders since the last one for known.
  const isBehind = kept.some(({ unread, subject }) => unread && !isAnyones(subject))
  if (through !== undefined && !isBehind) await writeProgress(store, through)
  const maybeIncomplete = kept.filter(({ isFull, orders, unread }) => unread || (isFull && (orders[0]?.at ?? 0) > last)).map(({ id }) => id)
  return { found: records.length, added, maybeIncomplete: named(maybeIncomplete), skipped: named([...skipped]), heads }
}

/** Whoever reaches Temporal can start these, as many as he likes. */
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

/** The lines of a day in order, after their chain was checked. Throws ARCHIVE_INVALID with the number of the line that does not fit. */
export async function verifyDay(store: ArchiveStore, day: string): Promise<{ readonly orders: number; readonly head: string }> {
  const lines = await readDay(store, day)
  for (const [index, line] of lines.entries()) {
    if (parsed(line, nameOf(day)).previous === hashOf(lines[index - 1], day)) continue
    throw new RelayerError('ARCHIVE_INVALID', {
      detail: 'A line before it was changed, added or taken out.',
      facts: { name: nameOf(day), line: index + 1 },
    })
  }
  return { orders: lines.length, head: hashOf(lines.at(-1), day) }
}

async function readDay(store: ArchiveStore, day: string): Promise<string[]> {
  return linesOf((await store.get(nameOf(day)))?.text)
}

/** When orders were exported last, ms since the epoch; 0: never. Throws ARCHIVE_UNAVAILABLE, ARCHIVE_INVALID. */
export async function lastExport(store: ArchiveStore): Promise<number> {
  return progressIn((await store.get(progressName))?.text)
}

function progressIn(text: string | undefined): number {
  if (text === undefined) return 0
  const at = Date.parse(String((parsed(text, progressName) as { through?: unknown }).through))
  if (Number.isNaN(at)) throw new RelayerError('ARCHIVE_INVALID', { facts: { name: progressName } })
  return at
}

/** Another process may have come further: that stays. */
function writeProgress(store: ArchiveStore, through: number): Promise<void> {
  return updateText(store, progressName, (text) =>
    progressIn(text) < through ? `${JSON.stringify({ through: new Date(through).toISOString() })}\n` : undefined,
  )
}

/** An order that is none is skipped: it must not keep the others out of the log. */
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
 * One order has one key; one that came again has another number of times, and a line of its own. An operator's transaction is sent and cancelled once: its
 * time is none of its key, since it may be told as that of a later run.
 */
function keyOf({ at, subject, id, kind, by, reason, facts, times, order }: OrderRecord): string {
  return JSON.stringify([subject === 'operator transaction' ? '' : at, subject, id, kind, by, reason, facts, times, order])
}

function parsed(line: string, name: string): Chained {
  try {
    return JSON.parse(line) as Chained
  } catch (cause) {
    throw new RelayerError('ARCHIVE_INVALID', { facts: { name }, cause })
  }
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
