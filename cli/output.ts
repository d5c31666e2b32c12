import { toRelayerError } from '../domain/errors.ts'
import { redactText } from '../observability/redact.ts'
import type { CliContext, GlobalOptions } from './context.ts'

/** The result of a command: one JSON object on stdout with --json, else the text for people. */
export function print(context: CliContext, { json }: GlobalOptions, value: object, text: string): void {
  context.stdout.write(`${json ? JSON.stringify(value) : text}\n`)
}

/** Columns as wide as their widest cell, two spaces between; the last is not padded. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows]
  const widths = headings.map((_, column) => Math.max(...lines.map((cells) => (cells[column] ?? '').length)))
  return lines
    .map((cells) =>
      cells
        .map((cell, column) => (column === cells.length - 1 ? cell : cell.padEnd(widths[column]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** `name  value` lines; undefined values are left out. */
export function facts(values: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const rows = Object.entries(values).filter(([, value]) => value !== undefined)
  const width = Math.max(0, ...rows.map(([name]) => name.length))
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n')
}

/** What an error says, whether it was thrown here or answered by the API. */
export interface Refusal {
  readonly code: string
  readonly message: string
  readonly remedy: string
  readonly facts: object
}

/** An error for people (code, what happened, what to do) or, with --json, as `{"error":…}` on stdout. The stack only with --verbose. */
export function printError(context: CliContext, globals: GlobalOptions, thrown: unknown): void {
  const { code, message, remedy, facts: about } = toRelayerError(thrown)
  printRefusal(context, globals, { code, message: redactText(message), remedy, facts: about })
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
