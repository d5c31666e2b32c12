import { amountText, exactAmountText, gasPriceText, gweiText } from '../../domain/text/amounts.ts'
import { type GivenOrder, orderDetails } from '../../domain/order.ts'

/** A value of a table or of a list of facts. */
export type Cell = string | number | boolean | undefined | Shortened

/** An id: in `short` where it must fit, which commands take for `full`; or an amount, in `full` to the last wei. */
export interface Shortened {
  readonly full: string
  readonly short: string
}

/** A column by its name; `wide`: shown with --wide only; `short`: its name where it must fit. */
export type Heading = string | { readonly name: string; readonly wide: true } | { readonly name: string; readonly short: string }

/** Rows of cells below headings. Rendered by cli/output/layout.ts, which knows how wide it may be. */
export interface Table {
  readonly kind: 'table'
  readonly headings: readonly Heading[]
  readonly rows: readonly (readonly Cell[])[]
}

/** `name  value` lines. */
export interface Facts {
  readonly kind: 'facts'
  readonly values: Readonly<Record<string, Cell>>
}

/** A text that must stay as it is, such as JSON or a token. */
export interface Verbatim {
  readonly kind: 'verbatim'
  readonly text: string
}

/** A part of what people are shown; a string is prose, of one or more lines. */
export type Part = string | Table | Facts | Verbatim

/** What people are shown: parts with an empty line between them. */
export type Text = Part | readonly Part[]

/** A table; an undefined cell is `-`. */
export function table(headings: readonly Heading[], rows: readonly (readonly Cell[])[]): Table {
  return { kind: 'table', headings, rows }
}

/** A table, or the text `none` where there are no rows. */
export function list(none: string, headings: readonly Heading[], rows: readonly (readonly Cell[])[]): Part {
  return rows.length === 0 ? none : table(headings, rows)
}

/** A table as a part of a text, or no part where there are no rows. */
export function section<Row>(rows: readonly Row[], headings: readonly Heading[], cells: (row: Row) => readonly Cell[]): Part[] {
  return rows.length === 0 ? [] : [table(headings, rows.map(cells))]
}

/** What was ordered, newest first; no part where nothing was. */
export function ordersSection(orders: readonly GivenOrder[] = []): Part[] {
  return section(orders.toReversed(), ['ordered', 'order', 'by', 'reason'], (given) => [
    timeText(new Date(given.at).toISOString()),
    [given.kind, ...orderDetails(withFees(given))].join(' '),
    given.by,
    given.reason,
  ])
}

/** `name  value` lines; undefined values are left out. */
export function facts(values: Readonly<Record<string, Cell>>): Facts {
  return { kind: 'facts', values }
}

export function verbatim(text: string): Verbatim {
  return { kind: 'verbatim', text }
}

/** An amount of coins. @param wei decimal; absent: `-` @param coin its symbol, where it is known */
export function amountCell(wei: string | undefined, coin: string | undefined): Cell {
  return wei === undefined ? undefined : { full: exactAmountText(wei, coin), short: amountText(wei, coin) }
}

/** A price per unit of gas. @param wei decimal; absent: `-` */
export function gasPriceCell(wei: string | undefined): Cell {
  return wei === undefined ? undefined : { full: gweiText(wei), short: gasPriceText(wei) }
}

/** Date and time of a table's cell, UTC, without milliseconds. */
export function timeText(iso: string): string {
  return iso.slice(0, 19)
}

/** The fees that an order named, as people read them. */
function withFees(given: GivenOrder): GivenOrder {
  const { facts } = given
  if (!facts) return given
  const shown = Object.entries(facts).map(([name, value]) => [name, isFee(name, value) ? gweiText(String(value)) : value])
  return { ...given, facts: Object.fromEntries(shown) as typeof facts }
}

/** Signals are typed by hand: it need not be a number. */
function isFee(name: string, value: string | number): boolean {
  return (name === 'maxFee' || name === 'tip') && /^[0-9]+$/.test(String(value))
}
