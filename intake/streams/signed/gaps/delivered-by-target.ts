import type { SignedSource } from '../../../../bridges/port.ts'
import { type RelayerError, toRelayerError } from '../../../../domain/catalogue/errors.ts'
import type { Transfer } from '../../../../domain/transfer/transfer.ts'

/** Numbers delivered for good, and unreadable ones with the error, per target. Throws errors that are not outages. */
export async function deliveredByTarget(
  { delivered }: Pick<SignedSource, 'delivered'>,
  transfers: readonly Omit<Transfer, 'message'>[],
): Promise<{ readonly done: ReadonlySet<string>; readonly unread: ReadonlyMap<string, RelayerError> }> {
  const [done, unread] = [new Set<string>(), new Map<string, RelayerError>()]
  const targets = new Set(transfers.map(({ targetChain }) => targetChain))
  await Promise.all(
    [...targets].map(async (target) => {
      const some = transfers.filter(({ targetChain }) => targetChain === target)
      try {
        const answers = await delivered(some)
        some.forEach(({ sequence }, index) => answers[index] && done.add(sequence))
      } catch (thrown) {
        const error = toRelayerError(thrown)
        if (!error.retriable) throw error
        for (const { sequence } of some) unread.set(sequence, error)
      }
    }),
  )
  return { done, unread }
}
