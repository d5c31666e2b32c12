import { errorCatalogue, type ErrorCode, type RelayerError, toRelayerError } from '../domain/catalogue/errors.ts'

/** Outages of Portage or of its dependencies: an operator wants to see them, and the text says what they are. */
const outages: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'NATIVE_TABLE_MISMATCH',
  'NATIVE_NONCE_MISMATCH',
  'EFFECT_UNDONE',
  'LANE_CHAIN_REPLACED',
  'LANE_UNREACHABLE',
  'STREAM_UNREACHABLE',
  'SETTINGS_UNREACHABLE',
  'NOTIFIER_UNREACHABLE',
  'CHECKPOINT_INVALID',
  'CHECKPOINT_UNAVAILABLE',
  'NODES_DISAGREE',
  'NODE_UNAVAILABLE',
  'NODE_REFUSED',
  'CHAIN_ID_MISMATCH',
  'TRANSACTION_REFUSED',
  'SIGNER_UNAVAILABLE',
  'SIGNER_OFFLINE',
  'SIGNING_REFUSED',
  'CALL_UNJUSTIFIED',
  'SPENDING_UNRECORDED',
  'SPY_UNAVAILABLE',
  'TEMPORAL_UNAVAILABLE',
  'TEMPORAL_NAMESPACE',
  'TEMPORAL_TLS',
  'TEMPORAL_NO_TLS',
  'TEMPORAL_UNTRUSTED',
  'TEMPORAL_CERTIFICATE_REFUSED',
  'TEMPORAL_CREDENTIALS',
  'TEMPORAL_API_KEY_REFUSED',
  'TEMPORAL_PERMISSION',
  'SETUP_INCOMPLETE',
])
/** Unexpected errors, for which only the stack shows where they come from. */
const unexpected: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['INTERNAL', 'LANE_CONFLICT'])

/**
 * How an error that was answered, or is retried, is logged. warn: an outage, or unexpected (with its stack). debug: a refusal, which its caller was told and the
 * metrics count.
 * @param thrown the original error, with its stack and causes
 */
export function asLogged({ code, message }: Pick<RelayerError, 'code' | 'message'>, thrown: unknown) {
  if (unexpected.has(code)) return { level: 'warn', fields: { code, error: thrown } } as const
  return { level: outages.has(code) ? 'warn' : 'debug', fields: { code, reason: withoutRemedy(code, message) } } as const
}

/** What a line says of an error: its code and what happened; the logger adds the remedy. With the stack where the error is unexpected. */
export function problemOf(thrown: unknown): { readonly code: ErrorCode; readonly reason: string; readonly error?: unknown } {
  const { code, message } = toRelayerError(thrown)
  return { code, reason: withoutRemedy(code, message), ...(unexpected.has(code) && { error: thrown }) }
}

function withoutRemedy(code: ErrorCode, message: string): string {
  const end = ` → ${errorCatalogue[code].remedy}`
  return message.endsWith(end) ? message.slice(0, -end.length) : message
}
