import { errorCatalogue, type ErrorCode, type RelayerError, toRelayerError } from '../domain/catalogue/errors.ts'

/** Outages of Portage or its dependencies, which operators should see: codes that match, and `otherOutages`. */
const outageForm = /^TEMPORAL_|_(?:UNREACHABLE|UNAVAILABLE)$/
const otherOutages: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'NATIVE_TABLE_MISMATCH',
  'NATIVE_NONCE_MISMATCH',
  'EFFECT_UNDONE',
  'LANE_CHAIN_REPLACED',
  'CHECKPOINT_INVALID',
  'NODES_DISAGREE',
  'NODE_REFUSED',
  'CHAIN_ID_MISMATCH',
  'TRANSACTION_REFUSED',
  'SIGNER_OFFLINE',
  'SIGNING_REFUSED',
  'CALL_UNJUSTIFIED',
  'SPENDING_UNRECORDED',
  'SETUP_INCOMPLETE',
])
/** Unexpected errors. They are logged with a stack, because only the stack shows where they come from. */
const unexpected: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['INTERNAL', 'LANE_CONFLICT'])

/** warn: outages and unexpected errors (these with a stack). debug: refusals. @param thrown the original error */
export function asLogged({ code, message }: Pick<RelayerError, 'code' | 'message'>, thrown: unknown) {
  if (unexpected.has(code)) return { level: 'warn', fields: { code, error: thrown } } as const
  const isOutage = outageForm.test(code) || otherOutages.has(code)
  return { level: isOutage ? 'warn' : 'debug', fields: { code, reason: withoutRemedy(code, message) } } as const
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
