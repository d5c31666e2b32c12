import { type GivenOrder, orderDetails } from '../domain/order.ts'
import { toRelayerError } from '../domain/errors.ts'
import { redactText } from '../observability/redact.ts'
import type { CliContext, GlobalOptions } from './context.ts'

/** Prints the result of a command: one JSON object on stdout with --json, else the text for people. */
export function print(context: CliContext, { json }: GlobalOptions, result: { readonly json: object; readonly text: string }): void {
  context.stdout.write(`${json ? JSON.stringify(result.json) : result.text}\n`)
}

/** A value of a table or of a list of facts. */
export type Cell = string | number | boolean | undefined

/** Columns as wide as their widest cell, two spaces between; an undefined cell is `-`. */
export function table(headings: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const lines = [headings, ...rows.map((cells) => cells.map((cell) => String(cell ?? '-')))]
  const widths = headings.map((_, column) => Math.max(...lines.map((cells) => (cells[column] ?? '').length)))
  const padded = lines.map((cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
  return padded.map((text) => text.trimEnd()).join('\n')
}

/** A table, or the text `none` where there are no rows. */
export function list(none: string, headings: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return rows.length === 0 ? none : table(headings, rows)
}

/** A table as a part of a text, or no part where there are no rows. */
export function section<Row>(rows: readonly Row[], headings: readonly string[], cells: (row: Row) => readonly Cell[]): string[] {
  return rows.length === 0 ? [] : [table(headings, rows.map(cells))]
}

/** What was ordered, newest first; no part where nothing was. */
export function ordersSection(orders: readonly GivenOrder[] = []): string[] {
  return section(orders.toReversed(), ['ordered', 'order', 'by', 'reason'], (given) => [
    timeText(new Date(given.at).toISOString()),
    [given.kind, ...orderDetails(given)].join(' '),
    given.by,
    given.reason,
  ])
}

/** `name  value` lines; undefined values are left out. */
export function facts(values: Readonly<Record<string, Cell>>): string {
  const rows = Object.entries(values).filter(([, value]) => value !== undefined)
  const width = Math.max(0, ...rows.map(([name]) => name.length))
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n')
}

/** Date and time of a table's cell, UTC, without milliseconds. */
export function timeText(iso: string): string {
  return iso.slice(0, 19)
}

/** The parts of an error, whether it was thrown here or answered by the API. */
export interface Refusal {
  readonly code: string
  readonly message: string
  readonly remedy: string
  readonly facts: object
}

/** An error for people (code, what happened, what to do) or, with --json, as `{"error":…}` on stdout. The stack only with --verbose. */
export function printError(context: CliContext, globals: GlobalOptions, thrown: unknown): void {
  const { code, message, remedy, facts: about } = toRelayerError(thrown)
  // The remedy is ours and holds no secret, and may look like one (Authorization: Bearer <token>): it is found again at the end of the message.
  const end = message.endsWith(`→ ${remedy}`) ? message.length - remedy.length : message.length
  printRefusal(context, globals, { code, message: redactText(message.slice(0, end)) + message.slice(end), remedy, facts: about })
  if (globals.verbose) context.stderr.write(`${redactText(stackOf(thrown))}\n`)
}

export function printRefusal(context: CliContext, { json }: GlobalOptions, { code, message, remedy, facts: about }: Refusal): void {
  if (json) {
    context.stdout.write(`${JSON.stringify({ error: { code, message, remedy, facts: about } })}\n`)
    return
  }
  // The remedy ends the message; people get it on a line of its own.
  const arrow = `→ ${remedy}`
  const what = message.endsWith(arrow) ? message.slice(0, -arrow.length).trimEnd() : message
  context.stderr.write(`${code}: ${what}\n${arrow}\n`)
}

function stackOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  return [thrown.stack ?? thrown.message, ...(thrown.cause === undefined ? [] : [`caused by: ${stackOf(thrown.cause)}`])].join('\n')
}
