import type { ErrorCode, RelayerError } from '../domain/errors.ts'
import { errorCatalogue } from '../domain/errors.ts'

/** Something of ours, or something that we stand on, is not well: whoever operates it wants to see that, and knows from the text what it is. */
const outages: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'NATIVE_TABLE_MISMATCH',
  'NATIVE_NONCE_MISMATCH',
  'EFFECT_UNDONE',
  'LANE_CHAIN_REPLACED',
  'LANE_UNREACHABLE',
  'STREAM_UNREACHABLE',
  'SETTINGS_UNREACHABLE',
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
  'SPY_UNAVAILABLE',
  'TEMPORAL_UNAVAILABLE',
  'TEMPORAL_NAMESPACE',
  'TEMPORAL_TLS',
  'SETUP_INCOMPLETE',
])
/** Nobody expects these: where they come from is all that there is to go by. */
const unexpected: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['INTERNAL', 'LANE_CONFLICT'])

/** How an error that was answered, or is tried again, is a line of the log. */
export interface LoggedError {
  /** warn: an outage, or unexpected. debug: a refusal, which its caller was told and metrics count. */
  readonly level: 'warn' | 'debug'
  readonly fields: { readonly code: string; readonly reason: string } | { readonly error: unknown }
}

/** Only what nobody expects is told with its stack. @param thrown what `error` was made from: its stack and causes */
export function asLogged({ code, message }: Pick<RelayerError, 'code' | 'message'>, thrown: unknown): LoggedError {
  if (unexpected.has(code)) return { level: 'warn', fields: { error: thrown } }
  return { level: outages.has(code) ? 'warn' : 'debug', fields: { code, reason: message } }
}

/** Is this text a code of the catalogue? */
export function isErrorCode(text: unknown): text is ErrorCode {
  return typeof text === 'string' && Object.hasOwn(errorCatalogue, text)
}
