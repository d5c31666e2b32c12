import type { DestinationStream } from 'pino'

const colours: Record<string, string> = { debug: '\u001b[90m', info: '\u001b[36m', warn: '\u001b[33m', error: '\u001b[31m' }
const reset = '\u001b[0m'

/** Turns pino's JSON lines into `12:34:56.789 info  message  field=value …`; an error's stack follows on its own lines. */
export function prettyStream(destination: DestinationStream, colour = process.stderr.isTTY === true): DestinationStream {
  return { write: (line) => destination.write(prettyLine(line, colour)) }
}

/** One line of pino, readable. What is not JSON stays as it is. */
export function prettyLine(line: string, colour: boolean): string {
  let record: Record<string, unknown>
  try {
    record = JSON.parse(line) as Record<string, unknown>
  } catch {
    return line
  }
  const { level, time, message, error, ...fields } = record
  const name = String(level).padEnd(5)
  const about = Object.entries(fields).map(([field, value]) => `${field}=${show(value)}`)
  const parts = [String(time).slice(11, 23), colour ? `${colours[String(level)] ?? ''}${name}${reset}` : name, String(message), ...about]
  return `${parts.join(' ')}${showError(error)}\n`
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
