import { toRelayerError } from '../../domain/catalogue/errors.ts'
import { harmlessLines } from '../../domain/text/printable.ts'
import { redactText } from '../../observability/redact.ts'
import type { CliContext, GlobalOptions } from '../context.ts'
import { render, widthOf } from './layout.ts'
import type { Outcome } from './output.ts'
import { createLogUpdate } from 'log-update'

export function print(context: CliContext, globals: GlobalOptions, { json, text }: Outcome): void {
  context.stdout.write(`${globals.json ? jsonLine(json) : render(text, widthOf(context, globals))}\n`)
}

/** Characters that control terminals or are invisible, and that JSON does not escape. */
const unescaped = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu

function jsonLine(json: object): string {
  return JSON.stringify(json).replaceAll(unescaped, (signs) =>
    [...Array(signs.length).keys()].map((at) => `\\u${signs.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  )
}

/** Prints an error to stderr or, with --json, `{"error":…}` to stdout. --verbose adds the stack, on stderr. */
export function printError(context: CliContext, globals: GlobalOptions, thrown: unknown): void {
  const { code, title, about, remedy, facts } = toRelayerError(thrown)
  // The remedy is not redacted. It contains no secret, but it may contain text that looks like one (`Authorization:
  // Bearer <token>`).
  const said = redactText(about === '' || about === title ? title : `${title} ${about}`)
  if (globals.json) context.stdout.write(`${jsonLine({ error: { code, message: `${said} → ${remedy}`, remedy, facts } })}\n`)
  else {
    const width = context.stderr.isTTY ? widthOf({ stdout: context.stderr }, globals) : undefined
    context.stderr.write(`${render(`${code}: ${said}\n→ ${remedy}`, width)}\n`)
  }
  if (globals.verbose) context.stderr.write(`${harmlessLines(redactText(stackOf(thrown)))}\n`)
}

function stackOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  return [thrown.stack ?? thrown.message, ...(thrown.cause === undefined ? [] : [`caused by: ${stackOf(thrown.cause)}`])].join('\n')
}

const usualRows = 24

export function createLiveText(stream: CliContext['stdout']) {
  if (!stream.isTTY) return undefined
  const update = createLogUpdate(stream as NodeJS.WriteStream, { showCursor: true })
  return {
    show: (text: string) => update(fitted(text, (stream.rows ?? usualRows) - 1)),
    end: () => update.done(),
  }
}

/** Shortens the text to `most` lines, because lines that have scrolled out of the terminal cannot be replaced. */
function fitted(text: string, most: number): string {
  const lines = text.split('\n')
  if (lines.length <= most) return text
  return [...lines.slice(0, most - 1), `and ${lines.length - most + 1} more lines`].join('\n')
}
