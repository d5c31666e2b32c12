import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino'
import { type Code, remedyOf } from '../domain/catalogue/catalogue.ts'
import { prettyStream } from './pretty.ts'
import { redactFields, redactText } from './redact.ts'
import { type Line, RepeatedLines } from './repeated-lines.ts'
import { traceFields } from './tracing.ts'

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** The fields of a line that needs a person. The line gets the remedy of the code (domain/catalogue), unless it has one. */
export type WarningFields = Record<string, unknown> & { readonly code: Code }

/** The logger of all rooms. Fields are redacted; errors go in the field `error`. warn and error are for what needs a person. */
export interface Logger {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields: WarningFields): void
  error(message: string, fields: WarningFields): void
  /** A logger that adds these fields to every line. */
  child(fields: Record<string, unknown>): Logger
}

export interface LoggerOptions {
  /** Least level that is written. Default: info. */
  readonly level?: LogLevel
  /** One readable line per message instead of JSON. */
  readonly pretty?: boolean
  /** Warnings and errors that repeat are counted and joined (observability/repeated-lines.ts). Default: each is written. */
  readonly joined?: boolean
  /** Where lines are written. Default: stderr, so that stdout holds only results. */
  readonly destination?: DestinationStream
}

/** JSON lines (or readable ones) on stderr: `{"level":"info","time":"…","message":"…",…fields}`. */
export function createLogger(options: LoggerOptions = {}): Logger {
  // Synchronous, so that the line that explains a crash is not lost with the process.
  const destination = options.destination ?? pino.destination({ dest: 2, sync: true })
  const target = pino(
    {
      level: options.level ?? 'info',
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      // Which trace it belongs to, where there are traces. A new object each time: pino adds the fields of the line to it.
      mixin: () => ({ ...traceFields() }),
      formatters: { level: (label) => ({ level: label }) },
    },
    options.pretty ? prettyStream(destination) : destination,
  )
  const write = ({ level, message, fields }: Line) => target[level](fields, message)
  return wrap(target, options.joined ? joining(write) : write, {})
}

/** Counts repeated lines; what was counted last is written when the process ends. */
function joining(write: (line: Line) => void): (line: Line) => void {
  const lines = new RepeatedLines(write)
  process.once('exit', () => lines.flush())
  return (line) => lines.say(line)
}

/** A logger that writes nothing, for tools and tests. */
export function silentLogger(): Logger {
  return createLogger({ level: 'silent' })
}

/** @param own the fields of every line: those of a line with the same name go before them, so that no name is in it twice */
function wrap(target: PinoLogger, tell: (line: Line) => void, own: Record<string, unknown>): Logger {
  const write = (level: 'debug' | 'info' | 'warn' | 'error', message: string, given: Record<string, unknown> = {}): void => {
    if (!target.isLevelEnabled(level)) return
    const fields = { ...own, ...withoutTaken(redactFields(given)) }
    if (level === 'debug' || level === 'info') target[level](fields, redactText(message))
    else tell({ level, message: redactText(message), fields: withRemedy(fields) })
  }
  return {
    debug: (message, fields) => write('debug', message, fields),
    info: (message, fields) => write('info', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    error: (message, fields) => write('error', message, fields),
    child: (fields) => wrap(target, tell, { ...own, ...withoutTaken(redactFields(fields)) }),
  }
}

/** Names that every line has. */
const taken = ['level', 'time', 'message'] as const

function withoutTaken(fields: Record<string, unknown>): Record<string, unknown> {
  if (!taken.some((name) => name in fields)) return fields
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [(taken as readonly string[]).includes(name) ? `${name}_` : name, value]),
  )
}

/** What a person can do about it, unless the line says it. */
function withRemedy(fields: Record<string, unknown>): Record<string, unknown> {
  return fields['remedy'] === undefined ? { ...fields, remedy: remedyOf(fields['code']) } : fields
}
