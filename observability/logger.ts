import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino'
import { type Code, remedyOf } from '../domain/catalogue/catalogue.ts'
import { harmlessLines } from '../domain/text/printable.ts'
import { redactFields, redactText } from './redact.ts'
import { createRepeatedLines, type Line } from './repeated-lines.ts'
import { traceFields } from './tracing.ts'

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** Fields of a warning or error. If `remedy` is absent, the logger adds the remedy of the code (domain/catalogue). */
export type WarningFields = Record<string, unknown> & { readonly code: Code }

/** A redacting log. Errors go into the field `error`. Use `warn` and `error` only if a person must act. */
export interface Logger {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields: WarningFields): void
  error(message: string, fields: WarningFields): void
  child(fields: Record<string, unknown>): Logger
}

export interface LoggerOptions {
  readonly level?: LogLevel
  readonly pretty?: boolean
  readonly joined?: boolean
  /** Default: stderr, because stdout contains only results. */
  readonly destination?: DestinationStream
}

export function createLogger(options: LoggerOptions = {}): Logger {
  // Lines are written synchronously, so that a crash does not lose the line that explains the crash.
  const destination = options.destination ?? pino.destination({ dest: 2, sync: true })
  const target = pino(
    {
      level: options.level ?? 'info',
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      // pino changes the object that `mixin` returns, so each line gets a new object.
      mixin: () => ({ ...traceFields() }),
      formatters: { level: (label) => ({ level: label }) },
    },
    options.pretty ? { write: (line: string) => destination.write(prettyLine(line)) } : destination,
  )
  const write = ({ level, message, fields }: Line) => target[level](fields, message)
  return wrap(target, options.joined ? joining(write) : write, {})
}

function joining(write: (line: Line) => void): (line: Line) => void {
  const lines = createRepeatedLines(write)
  process.once('exit', () => lines.flush())
  return (line) => lines.say(line)
}

export function silentLogger(): Logger {
  return createLogger({ level: 'silent' })
}

function wrap(target: PinoLogger, say: (line: Line) => void, own: Record<string, unknown>): Logger {
  const write = (level: 'debug' | 'info' | 'warn' | 'error', message: string, given: Record<string, unknown> = {}): void => {
    if (!target.isLevelEnabled(level)) return
    const fields = { ...own, ...withoutTaken(redactFields(given)) }
    if (level === 'debug' || level === 'info') target[level](fields, redactText(message))
    else say({ level, message: redactText(message), fields: withRemedy(fields) })
  }
  return {
    debug: (message, fields) => write('debug', message, fields),
    info: (message, fields) => write('info', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    error: (message, fields) => write('error', message, fields),
    child: (fields) => wrap(target, say, { ...own, ...withoutTaken(redactFields(fields)) }),
  }
}

const taken: ReadonlySet<string> = new Set(['level', 'time', 'message'])

function withoutTaken(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [taken.has(name) ? `${name}_` : name, value]))
}

function withRemedy(fields: Record<string, unknown>): Record<string, unknown> {
  return fields['remedy'] === undefined ? { ...fields, remedy: remedyOf(fields['code']) } : fields
}

const colours: Record<string, string> = { debug: '\u001b[90m', info: '\u001b[36m', warn: '\u001b[33m', error: '\u001b[31m' }
const reset = '\u001b[0m'

function prettyLine(line: string): string {
  let record: Record<string, unknown>
  try {
    record = JSON.parse(line) as Record<string, unknown>
  } catch {
    return line
  }
  const { level, time, message, error, remedy, ...fields } = record
  const name = String(level).padEnd(5)
  const colour = process.stderr.isTTY === true
  const about = Object.entries(fields).map(([field, value]) => `${field}=${show(value)}`)
  const parts = [
    String(time).slice(11, 23),
    colour ? `${colours[String(level)] ?? ''}${name}${reset}` : name,
    harmlessLines(String(message)),
  ]
  return `${[...parts, ...about.map(harmlessLines)].join(' ')}${harmlessLines(showError(error))}${typeof remedy !== 'string' ? '' : `\n    → ${harmlessLines(remedy)}`}\n`
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
