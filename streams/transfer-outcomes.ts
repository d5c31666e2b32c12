import type { StreamRequest } from '../domain/stream/stream.ts'
import type { TransferStatus } from '../temporal/contracts/transfer.ts'

/** Longest reason that a stream takes (domain/stream/checks.ts). */
const longestReason = 1_000

/** The request that records a transfer that ended undelivered; undefined: it did not. */
export function toClosed(
  number: string,
  { state, reason, code, cancelledBy }: Pick<TransferStatus, 'state' | 'reason' | 'code' | 'cancelledBy'>,
): StreamRequest | undefined {
  if (state !== 'rejected' && state !== 'declined' && state !== 'cancelled') return undefined
  const why = (reason || code || state).slice(0, longestReason)
  return {
    kind: 'closed',
    number,
    outcome: state,
    reason: why,
    ...(state === 'cancelled' && { by: cancelledBy?.operator.trim() || 'unnamed' }),
  }
}
