import { createLogger, type Logger, type LogLevel } from '../../observability/logger.ts'

/** A logger that keeps its lines, parsed. */
export function recordingLogger<Line = Record<string, unknown>>(level: LogLevel = 'info'): { logger: Logger; lines: Line[] } {
  const lines: Line[] = []
  return { lines, logger: createLogger({ level, destination: { write: (line) => void lines.push(JSON.parse(line) as Line) } }) }
}
