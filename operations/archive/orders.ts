import { createHash } from 'node:crypto'
import { z } from 'zod'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { groupBy } from '../../domain/group-by.ts'
import type { KeptOrders } from '../../temporal/client/settings/kept-orders.ts'
import { orderSchema } from './records.ts'
import { type ArchiveStore, linesOf, parsedLine, readThrough, updateText, writeThrough } from './store.ts'

/** `at`: when the order was obeyed or, for a cancellation of an operator transaction, when the order was given. */
export interface OrderRecord extends Readonly<z.infer<typeof orderSchema>> {
  /** The version stays the same when a field is added. */
  readonly version: 1
  readonly subject: KeptOrders['subject']
  readonly id: string
  readonly order?: object
}

/** `previous` reveals changed lines: the SHA-256 of the line before, or of `portage:<day>` in the first line. */
type Chained = OrderRecord & { readonly previous: string }

const lineSchema = z
  .looseObject({ previous: z.string(), at: z.iso.datetime(), subject: z.string(), id: z.string(), kind: z.string() })
  .transform((line) => line as unknown as Chained)

/**
 * Maximum length of an order of a transfer or operator transaction, characters. Strangers can start such workflows with
 * any orders.
 */
const longestOrder = 500_000
/**
 * Number of characters at which a day's file counts as full. A full file gets only orders that strangers cannot give.
 * V8's strings are shorter than 2^29 characters.
 */
const fullDay = 100_000_000
const mostNamed = 20
const progressName = 'orders/progress.json'

/** `through`: ms since the epoch, up to which `kept` is complete. Throws ARCHIVE_*. */
export async function exportOrders(store: ArchiveStore, kept: readonly KeptOrders[], through: number | undefined) {
  const last = await lastExport(store)
  const skipped = new Set<string>()
  const records = kept.flatMap((one) => recordsOf(one, skipped))
  const sorted = records.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  const days = groupBy(sorted, ({ at }) => at.slice(0, 10))
  /** SHA-256 of each day's last line. A copy of it elsewhere proves that no line was cut off. */
  const heads: Record<string, string> = {}
  let added = 0
  for (const [day, ofDay] of days) {
    let missing: OrderRecord[] = []
    await updateText(store, nameOf(day), (text) => {
      const lines = linesOf(text)
      const known = new Set(lines.map((line) => keyOf(parsedLine(line, nameOf(day), lineSchema))))
      const unknown = ofDay.filter((record) => !known.has(keyOf(record)))
      missing = withRoom(unknown, text?.length ?? 0, skipped)
      if (missing.length === 0) return undefined
      for (const record of missing) lines.push(JSON.stringify({ ...record, previous: hashOf(lines.at(-1), day) } satisfies Chained))
      heads[day] = hashOf(lines.at(-1), day)
      return `${lines.join('\n')}\n`
    })
    if (missing.length === 0) delete heads[day]
    added += missing.length
  }
  // `through` does not move past orders that could not be read, so that the next export searches for them again.
  const isBehind = kept.some(({ unread, subject }) => unread && !isAnyones(subject))
  if (through !== undefined && !isBehind) await writeThrough(store, progressName, through)
  const maybeIncomplete = kept.filter(({ isFull, orders, unread }) => unread || (isFull && (orders[0]?.at ?? 0) > last)).map(({ id }) => id)
  return {
    ...{ found: records.length, added },
    /** Workflows that could not be read, or that may have dropped orders since the last export. */
    maybeIncomplete: named(maybeIncomplete),
    /** Ids with a malformed or too long order, or with an order of a day whose file is full. */
    skipped: named([...skipped]),
    heads,
  }
}

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

/** Throws ARCHIVE_INVALID with the number of the first line whose hash is wrong. */
export async function verifyDay(store: ArchiveStore, day: string): Promise<{ readonly orders: number; readonly head: string }> {
  const lines = linesOf((await store.get(nameOf(day)))?.text)
  for (const [index, line] of lines.entries()) {
    if (parsedLine(line, nameOf(day), lineSchema).previous === hashOf(lines[index - 1], day)) continue
    throw new RelayerError('ARCHIVE_INVALID', {
      detail: 'A line before it was changed, added or removed.',
      facts: { name: nameOf(day), line: index + 1 },
    })
  }
  return { orders: lines.length, head: hashOf(lines.at(-1), day) }
}

/** ms since the epoch, or 0 without an export. Throws ARCHIVE_*. */
export async function lastExport(store: ArchiveStore): Promise<number> {
  return (await readThrough(store, progressName)) ?? 0
}

function recordsOf({ subject, id, orders }: KeptOrders, skipped: Set<string>): OrderRecord[] {
  return orders.flatMap((one) => {
    const read = orderSchema.safeParse(one)
    if (!read.success || (isAnyones(subject) && JSON.stringify(read.data).length > longestOrder)) {
      skipped.add(id)
      return []
    }
    const { kind, by, reason, at, facts, times } = read.data
    return [{ version: 1 as const, at, subject, id, kind, by, reason, facts, times, order: one.order }]
  })
}

/**
 * Identifies an order. Leaves out the time of an operator transaction, because a later export may report another time.
 */
function keyOf({ at, subject, id, kind, by, reason, facts, times, order }: OrderRecord): string {
  return JSON.stringify([subject === 'operator transaction' ? '' : at, subject, id, kind, by, reason, facts, times, order])
}

function hashOf(line: string | undefined, day: string): string {
  const hash = createHash('sha256').update(line ?? `portage:${day}`)
  return hash.digest('hex')
}

function nameOf(day: string): string {
  return `orders/${day.replaceAll('-', '/')}.jsonl`
}
