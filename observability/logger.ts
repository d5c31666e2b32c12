import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino'
import { prettyStream } from './pretty.ts'
import { redactFields, redactText } from './redact.ts'
import { traceFields } from './tracing.ts'

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** The logger of all rooms. Fields are redacted; errors go in the field `error`. */
export interface Logger {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
  /** A logger that adds these fields to every line. */
  child(fields: Record<string, unknown>): Logger
}

export interface LoggerOptions {
  /** Least level that is written. Default: info. */
  readonly level?: LogLevel
  /** One readable line per message instead of JSON. */
  readonly pretty?: boolean
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
  return wrap(target)
}

/** A logger that writes nothing, for tools and tests. */
export function silentLogger(): Logger {
  return createLogger({ level: 'silent' })
}

function wrap(target: PinoLogger): Logger {
  const write =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields: Record<string, unknown> = {}): void => {
      if (target.isLevelEnabled(level)) target[level](redactFields(fields), redactText(message))
    }
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => wrap(target.child(redactFields(fields))),
  }
}
