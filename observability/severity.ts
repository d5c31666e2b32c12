import { errorCatalogue, type ErrorCode, type RelayerError, toRelayerError } from '../domain/catalogue/errors.ts'

/** The log has the stack of these errors, because only the stack shows where they come from. */
const unexpected: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['INTERNAL', 'LANE_CONFLICT'])

/** Level and fields of an error's log line. Outages and unexpected errors are warnings. Others have the level debug. */
export function asLogged({ code, message }: Pick<RelayerError, 'code' | 'message'>, thrown: unknown) {
  if (unexpected.has(code)) return { level: 'warn', fields: { code, error: thrown } } as const
  return { level: errorCatalogue[code].isOutage ? 'warn' : 'debug', fields: { code, reason: withoutRemedy(code, message) } } as const
}

/** Fields of an error's log line. `reason` lacks the remedy, which the logger adds. */
export function problemOf(thrown: unknown): { readonly code: ErrorCode; readonly reason: string; readonly error?: unknown } {
  const { code, message } = toRelayerError(thrown)
  return { code, reason: withoutRemedy(code, message), ...(unexpected.has(code) && { error: thrown }) }
}

function withoutRemedy(code: ErrorCode, message: string): string {
  const end = ` → ${errorCatalogue[code].remedy}`
  return message.endsWith(end) ? message.slice(0, -end.length) : message
}
