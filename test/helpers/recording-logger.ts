import { createLogger, type Logger, type LogLevel } from '../../observability/logger.ts'
import type { LogLine } from './log-lines.ts'

export function recordingLogger(level: LogLevel = 'info'): { logger: Logger; lines: LogLine[] } {
  const lines: LogLine[] = []
  return { lines, logger: createLogger({ level, destination: { write: (line) => void lines.push(JSON.parse(line) as LogLine) } }) }
}
