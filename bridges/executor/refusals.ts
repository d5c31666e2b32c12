import { placedRefusals } from '../kit/placed-logs.ts'
import { signedRefusals } from '../kit/signed-messages.ts'
import type { Refusals } from '../kit/verdict.ts'

export const executorRefusals: Refusals = {
  ...signedRefusals,
  EXECUTOR_MESSAGE: { kind: 'rejected' },
  ...placedRefusals,
  EXECUTOR_QUOTE_UNKNOWN: { kind: 'declined' },
  EXECUTOR_UNSUPPORTED: { kind: 'declined' },
  EXECUTOR_UNDERPAID: { kind: 'declined' },
  EXECUTOR_EXPIRED: { kind: 'declined' },
}

/**
 * The refusals of `prove`. `declined` becomes `rejected`, because `provedBy` refuses to sign (CALL_UNJUSTIFIED) only
 * for `rejected`.
 */
export const keyRefusals: Refusals = Object.fromEntries(
  Object.entries(executorRefusals).map(([code, { kind }]) => [code, { kind: kind === 'declined' ? 'rejected' : kind }]),
)
