import { viewStream } from '../../../../domain/stream/reducer.ts'
import type { StreamState } from '../../../../domain/stream/stream.ts'
import { problemOf } from '../../../../observability/severity.ts'
import { missingIn, noNumbers, type NumberCounts } from '../../number-status.ts'
import type { SignedDeps } from '../deps.ts'
import { createLookBack } from '../look-back.ts'

/** Up to this count numbers are fetched one by one. */
const few = 100
/** Time between two reads of the blocks, ms. Numbers that they do not resolve are fetched from the servers. */
const betweenMs = 3_600_000
const afterFailureMs = 60_000

/** Resolves many numbers, as after a wipe of Temporal, by recent blocks: one read replaces many requests to servers. */
export function createManyMissing(deps: SignedDeps) {
  const { source, streamClient, logger } = deps
  const lookBack = createLookBack(deps)
  let nextAt = 0
  return {
    /** Throws only what reading the state throws. `started` counts running transfers, only if many are missing. */
    async resolve(
      state: StreamState,
      started: () => Promise<number> = async () => 0,
    ): Promise<{ readonly state: StreamState; readonly counts: Readonly<NumberCounts> }> {
      const all = missingIn(viewStream(state))
      if (all <= few || Date.now() < nextAt || source.withoutNode) return { state, counts: noNumbers }
      const missing = all - (await started())
      if (missing <= few) return { state, counts: noNumbers }
      const about = { stream: source.config.stream, missing }
      try {
        nextAt = Date.now() + betweenMs
        const counts = await lookBack.resolve(state, streamClient)
        logger.info('many numbers were missing, and the blocks of the last days were read for them', { ...about, ...counts })
        return { state: (await streamClient.state()) ?? state, counts }
      } catch (error) {
        nextAt = Date.now() + afterFailureMs
        logger.warn('the blocks of the last days cannot be read, and missing numbers are fetched one by one', {
          ...about,
          ...problemOf(error),
        })
        return { state, counts: noNumbers }
      }
    },
  }
}
