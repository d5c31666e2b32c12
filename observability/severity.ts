import { errorCatalogue, type ErrorCode, type RelayerError, toRelayerError } from '../domain/catalogue/errors.ts'

/** Outages of Portage or its dependencies, which operators should see. */
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
/** Unexpected errors: only the stack shows their origin. */
const unexpected: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['INTERNAL', 'LANE_CONFLICT'])

/** warn: outages and unexpected errors (with a stack). debug: refusals. @param thrown the original error */
export function asLogged({ code, message }: Pick<RelayerError, 'code' | 'message'>, thrown: unknown) {
  if (unexpected.has(code)) return { level: 'warn', fields: { code, error: thrown } } as const
  return { level: outages.has(code) ? 'warn' : 'debug', fields: { code, reason: withoutRemedy(code, message) } } as const
}

/** The fields of an error's line: code and reason, with a stack if unexpected. The logger adds the remedy. */
export function problemOf(thrown: unknown): { readonly code: ErrorCode; readonly reason: string; readonly error?: unknown } {
  const { code, message } = toRelayerError(thrown)
  return { code, reason: withoutRemedy(code, message), ...(unexpected.has(code) && { error: thrown }) }
}

function withoutRemedy(code: ErrorCode, message: string): string {
  const end = ` → ${errorCatalogue[code].remedy}`
  return message.endsWith(end) ? message.slice(0, -end.length) : message
}
