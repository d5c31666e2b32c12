import { amountText, exactAmountText, gasPriceText, gweiText } from '../../domain/text/amounts.ts'
import { type GivenOrder, orderDetails } from '../../domain/order.ts'

export type Cell = string | number | boolean | undefined | Shortened

/** `short`: where the width is limited; commands accept a short id. `full`: every wei. */
export interface Shortened {
  readonly full: string
  readonly short: string
}

/** `wide`: with --wide only. `short`: where the width is limited. */
export type Heading = string | { readonly name: string; readonly wide: true } | { readonly name: string; readonly short: string }

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

/** Unchanged, such as JSON or a token. */
export interface Verbatim {
  readonly kind: 'verbatim'
  readonly text: string
}

export type Part = string | Table | Facts | Verbatim

/** Parts with an empty line between them. */
export type Text = Part | readonly Part[]

/** An undefined cell is shown as `-`. */
export function table(headings: readonly Heading[], rows: readonly (readonly Cell[])[]): Table {
  return { kind: 'table', headings, rows }
}

export function list(none: string, headings: readonly Heading[], rows: readonly (readonly Cell[])[]): Part {
  return rows.length === 0 ? none : table(headings, rows)
}

export function section<Row>(rows: readonly Row[], headings: readonly Heading[], cells: (row: Row) => readonly Cell[]): Part[] {
  return rows.length === 0 ? [] : [table(headings, rows.map(cells))]
}

export function ordersSection(orders: readonly GivenOrder[] = []): Part[] {
  return section(orders.toReversed(), ['ordered', 'order', 'by', 'reason'], (given) => [
    timeText(new Date(given.at).toISOString()),
    [given.kind, ...orderDetails(withFees(given))].join(' '),
    given.by,
    given.reason,
  ])
}

/** Undefined values are left out. */
export function facts(values: Readonly<Record<string, Cell>>): Facts {
  return { kind: 'facts', values }
}

export function verbatim(text: string): Verbatim {
  return { kind: 'verbatim', text }
}

/** @param wei decimal; absent: `-` @param coin symbol */
export function amountCell(wei: string | undefined, coin: string | undefined): Cell {
  return wei === undefined ? undefined : { full: exactAmountText(wei, coin), short: amountText(wei, coin) }
}

/** @param wei decimal; absent: `-` */
export function gasPriceCell(wei: string | undefined): Cell {
  return wei === undefined ? undefined : { full: gweiText(wei), short: gasPriceText(wei) }
}

/** UTC without milliseconds. */
export function timeText(iso: string): string {
  return iso.slice(0, 19)
}

function withFees(given: GivenOrder): GivenOrder {
  const { facts } = given
  if (!facts) return given
  const shown = Object.entries(facts).map(([name, value]) => [name, isFee(name, value) ? gweiText(String(value)) : value])
  return { ...given, facts: Object.fromEntries(shown) as typeof facts }
}

/** Not always a number: people type signals. */
function isFee(name: string, value: string | number): boolean {
  return (name === 'maxFee' || name === 'tip') && /^[0-9]+$/.test(String(value))
}
