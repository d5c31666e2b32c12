import { viewStream } from '../../../../domain/stream/reducer.ts'
import type { StreamState } from '../../../../domain/stream/stream.ts'
import { missingIn, type NumberStatus } from '../../number-status.ts'
import type { SignedDeps } from '../deps.ts'
import { createLookBack } from '../look-back.ts'
import { problemOf } from '../../../../observability/severity.ts'

/** So many are asked for one by one, at the network's servers. */
const few = 100
/** Between two looks through the blocks, ms: what they do not resolve is fetched from the servers meanwhile. */
const betweenMs = 3_600_000
const afterTroubleMs = 60_000

/**
 * Where many numbers are missing, as after Temporal was wiped, the blocks of the last days tell which of them the target has already: by a read of logs for
 * many of them, where the servers would be asked for each. What is left is fetched as ever. A source without a node shows no blocks.
 */
export function createManyMissing(deps: SignedDeps) {
  const { source, streamClient, logger } = deps
  const lookBack = createLookBack(deps)
  let nextAt = 0
  return {
    /**
     * The state after it. Throws only what asking for the state throws.
     * @param started how many of the missing numbers need no look: their transfers run. Asked for only where many are missing; what it says too much is fetched
     */
    async look(
      state: StreamState,
      started: () => Promise<number> = async () => 0,
    ): Promise<{ readonly state: StreamState; readonly counts: Readonly<Record<NumberStatus, number>> }> {
      const none = { started: 0, delivered: 0, ignored: 0 }
      const all = missingIn(viewStream(state))
      if (all <= few || Date.now() < nextAt || source.withoutNode) return { state, counts: none }
      const missing = all - (await started())
      if (missing <= few) return { state, counts: none }
      const about = { stream: source.config.stream, missing }
      try {
        nextAt = Date.now() + betweenMs
        const counts = await lookBack.resolve(state, streamClient)
        logger.info('many numbers were missing; the blocks of the last days were asked for them', { ...about, ...counts })
        return { state: (await streamClient.state()) ?? state, counts }
      } catch (error) {
        nextAt = Date.now() + afterTroubleMs
        logger.warn('the blocks of the last days cannot be read; missing numbers are fetched one by one', {
          ...about,
          ...problemOf(error),
        })
        return { state, counts: none }
      }
    },
  }
}
