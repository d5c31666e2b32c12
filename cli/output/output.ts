import { amountText, exactAmountText, gasPriceText, gweiText } from '../../domain/text/amounts.ts'
import { type GivenOrder, orderDetails } from '../../domain/order.ts'

export type Cell = string | number | boolean | undefined | Shortened

/** `short` is shown if the width is limited. Commands also accept short ids. */
export interface Shortened {
  readonly full: string
  readonly short: string
}

type Row = Readonly<Record<string, Cell>>

/** `wide`: columns that are shown only with --wide. `short`: column names for a limited width. */
export interface Columns {
  readonly wide?: readonly string[]
  readonly short?: Readonly<Record<string, string>>
}

export type Facts = ReturnType<typeof facts>
export type Table = ReturnType<typeof table>
export type Part = string | Table | Facts | ReturnType<typeof verbatim>

export type Text = Part | readonly Part[]

/** `json` is printed with --json. `failed` makes the exit code 1. */
export interface Outcome {
  readonly json: object
  readonly text: Text
  readonly failed?: boolean
}

/** A table whose headings are the names in the first row. An undefined cell is shown as `-`. */
export function table(rows: readonly Row[], { wide = [], short = {} }: Columns = {}) {
  return { kind: 'table' as const, rows, wide, short }
}

export function list(none: string, rows: readonly Row[], columns?: Columns): Part {
  return rows.length === 0 ? none : table(rows, columns)
}

export function section<Item>(items: readonly Item[], cells: (item: Item) => Row): Part[] {
  return items.length === 0 ? [] : [table(items.map(cells))]
}

export function ordersSection(orders: readonly GivenOrder[] = []): Part[] {
  return section(orders.toReversed(), (given) => ({
    ordered: timeText(new Date(given.at).toISOString()),
    order: [given.kind, ...orderDetails(withFees(given))].join(' '),
    by: given.by,
    reason: given.reason,
  }))
}

/** Named values, one per line. Undefined values are not shown. */
export function facts(values: Row) {
  return { kind: 'facts' as const, values }
}

export function verbatim(text: string) {
  return { kind: 'verbatim' as const, text }
}

export function amountCell(wei: string | undefined, coin: string | undefined): Cell {
  return wei === undefined ? undefined : { full: exactAmountText(wei, coin), short: amountText(wei, coin) }
}

export function gasPriceCell(wei: string | undefined): Cell {
  return wei === undefined ? undefined : { full: gweiText(wei), short: gasPriceText(wei) }
}

/** Shortens an ISO 8601 time in UTC to seconds, without the `Z`. */
export function timeText(iso: string): string {
  return iso.slice(0, 19)
}

function withFees(given: GivenOrder): GivenOrder {
  const { facts } = given
  if (!facts) return given
  // Shows a fee in gwei only if it is a number. It may be any text, because people can send signals by hand.
  const isFee = (name: string, value: string) => (name === 'maxFee' || name === 'tip') && /^[0-9]+$/.test(value)
  const shown = Object.entries(facts).map(([name, value]) => [name, isFee(name, String(value)) ? gweiText(String(value)) : value])
  return { ...given, facts: Object.fromEntries(shown) as typeof facts }
}
