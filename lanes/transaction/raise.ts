import type { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Attempt } from '../../domain/lane/lane.ts'
import type { Attempts } from './attempts.ts'
import type { RaiseReason } from './fee-escalator.ts'

/** Signs what the signer refused for a while. True: the last attempt now is signed, and is what the raise is for. Throws what the signer throws, but no refusal. */
export async function signLater(attempts: Attempts, reason: RaiseReason): Promise<boolean> {
  if (!attempts.mayBeSignedLater || attempts.isLastSigned) return false
  await attempts.trySign()
  const isAsked = reason.why !== 'order' || (reason.kind === 'noop' && attempts.isFilling)
  return isAsked && attempts.isLastSigned
}

/**
 * What to offer next, and why the signer refuses it. It outbids what the signer refuses for now, since an earlier process may have sent it; where that passes a
 * limit it outbids the others only, since somebody may have invented it. Throws what the reads throw.
 */
export async function proposeRaise(
  attempts: Attempts,
  reason: RaiseReason,
  next: (known: readonly Attempt[]) => Promise<Attempt | undefined>,
): Promise<{ attempt: Attempt | undefined; refusal: RelayerError | undefined }> {
  const propose = async (known: readonly Attempt[]) => {
    const attempt = await next(known)
    return { attempt, refusal: attempt && (await attempts.refusal(attempt)) }
  }
  const found = await propose(attempts.offered)
  if (!attempts.mayBeSignedLater || (found.attempt && !found.refusal)) return found
  // With nothing signed, what an order does not name would become a no-op.
  const isNamed = reason.why === 'order' && reason.kind !== undefined
  return attempts.allowed.length > 0 || isNamed ? propose(attempts.allowed) : found
}
