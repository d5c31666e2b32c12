import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino'
import { type Code, remedyOf } from '../domain/catalogue/catalogue.ts'
import { prettyStream } from './pretty.ts'
import { redactFields, redactText } from './redact.ts'
import { type Line, RepeatedLines } from './repeated-lines.ts'
import { traceFields } from './tracing.ts'

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** Fields of a warning or error. The line gets the code's remedy (domain/catalogue), unless it has one. */
export type WarningFields = Record<string, unknown> & { readonly code: Code }

/** Redacts all fields. Errors go in the field `error`. warn and error are for lines that need a person. */
export interface Logger {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields: WarningFields): void
  error(message: string, fields: WarningFields): void
  child(fields: Record<string, unknown>): Logger
}

export interface LoggerOptions {
  /** Default: info. */
  readonly level?: LogLevel
  readonly pretty?: boolean
  /** Repeated warnings and errors are counted and joined (observability/repeated-lines.ts). Default: no. */
  readonly joined?: boolean
  /** Default: stderr, so that stdout holds only results. */
  readonly destination?: DestinationStream
}

/** JSON lines on stderr: `{"level":"info","time":"…","message":"…",…fields}`. */
export function createLogger(options: LoggerOptions = {}): Logger {
  // Synchronous, so that a crash does not lose the line that explains it.
  const destination = options.destination ?? pino.destination({ dest: 2, sync: true })
  const target = pino(
    {
      level: options.level ?? 'info',
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      // The current trace, if any. A new object each time, because pino changes it.
      mixin: () => ({ ...traceFields() }),
      formatters: { level: (label) => ({ level: label }) },
    },
    options.pretty ? prettyStream(destination) : destination,
  )
  const write = ({ level, message, fields }: Line) => target[level](fields, message)
  return wrap(target, options.joined ? joining(write) : write, {})
}

function joining(write: (line: Line) => void): (line: Line) => void {
  const lines = new RepeatedLines(write)
  process.once('exit', () => lines.flush())
  return (line) => lines.say(line)
}

export function silentLogger(): Logger {
  return createLogger({ level: 'silent' })
}

/** @param own the fields of every line. A line's own fields override them */
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

function withRemedy(fields: Record<string, unknown>): Record<string, unknown> {
  return fields['remedy'] === undefined ? { ...fields, remedy: remedyOf(fields['code']) } : fields
}
