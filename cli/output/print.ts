import { toRelayerError } from '../../domain/catalogue/errors.ts'
import { harmless } from '../../domain/text/printable.ts'
import { redactText } from '../../observability/redact.ts'
import type { CliContext, GlobalOptions } from '../context.ts'
import { layoutOf, render } from './layout.ts'
import type { Text } from './output.ts'

/** What a command prints: an object for scripts, a text for people. */
interface Printed {
  readonly json: object
  readonly text: Text
}

/** Prints the result of a command: one JSON object on stdout with --json, else the text for people. */
export function print(context: CliContext, globals: GlobalOptions, { json, text }: Printed): void {
  context.stdout.write(`${globals.json ? jsonLine(json) : render(text, layoutOf(context, globals))}\n`)
}

/** What JSON may leave as it is, and terminals obey or hide. */
const unescaped = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu

/** JSON in one line, the same value with every sign escaped that steers a terminal. */
function jsonLine(json: object): string {
  return JSON.stringify(json).replaceAll(unescaped, (signs) =>
    [...Array(signs.length).keys()].map((at) => `\\u${signs.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  )
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
  if (globals.verbose) context.stderr.write(`${byLine(redactText(stackOf(thrown)))}\n`)
}

export function printRefusal(context: CliContext, { json }: GlobalOptions, { code, message, remedy, facts: about }: Refusal): void {
  if (json) {
    context.stdout.write(`${jsonLine({ error: { code, message, remedy, facts: about } })}\n`)
    return
  }
  // The remedy ends the message; people get it on a line of its own.
  const arrow = `→ ${remedy}`
  const what = message.endsWith(arrow) ? message.slice(0, -arrow.length).trimEnd() : message
  context.stderr.write(`${byLine(`${code}: ${what}\n${arrow}`)}\n`)
}

function byLine(text: string): string {
  return text.split('\n').map(harmless).join('\n')
}

function stackOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  return [thrown.stack ?? thrown.message, ...(thrown.cause === undefined ? [] : [`caused by: ${stackOf(thrown.cause)}`])].join('\n')
}
