import type { DestinationStream } from 'pino'

const colours: Record<string, string> = { debug: '\u001b[90m', info: '\u001b[36m', warn: '\u001b[33m', error: '\u001b[31m' }
const reset = '\u001b[0m'

/** Turns pino's JSON lines into `12:34:56.789 info  message  field=value …`, with stack and remedy below. */
export function prettyStream(destination: DestinationStream, colour = process.stderr.isTTY === true): DestinationStream {
  return { write: (line) => destination.write(prettyLine(line, colour)) }
}

/** Other text stays as it is. */
export function prettyLine(line: string, colour: boolean): string {
  let record: Record<string, unknown>
  try {
    record = JSON.parse(line) as Record<string, unknown>
  } catch {
    return line
  }
  const { level, time, message, error, remedy, ...fields } = record
  const name = String(level).padEnd(5)
  const about = Object.entries(fields).map(([field, value]) => `${field}=${show(value)}`)
  const parts = [String(time).slice(11, 23), colour ? `${colours[String(level)] ?? ''}${name}${reset}` : name, visible(String(message))]
  return `${[...parts, ...about.map(visible)].join(' ')}${visible(showError(error))}${typeof remedy !== 'string' ? '' : `\n    → ${visible(remedy)}`}\n`
}

/** Escapes control characters, by which a stranger's text could control the terminal. Line breaks stay. */
function visible(text: string): string {
  return text.replace(/[^\P{Cc}\n]/gu, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function show(value: unknown): string {
  return typeof value === 'string' && !/\s/.test(value) ? value : JSON.stringify(value)
}

function showError(error: unknown): string {
  if (error === undefined) return ''
  if (typeof error !== 'object' || error === null) return ` error=${show(error)}`
  const { stack, message, code } = error as { stack?: string; message?: string; code?: string }
  return `\n    ${code ? `${code} ` : ''}${(stack ?? message ?? JSON.stringify(error)).replaceAll('\n', '\n    ')}`
}
