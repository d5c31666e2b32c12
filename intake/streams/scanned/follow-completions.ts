import type { Completion } from '../../../bridges/port.ts'
import { setOf } from '../../../domain/stream/intervals.ts'
import type { Step } from '../loop.ts'
import { finalizedOf, type ScannedContext, viewOf } from './context.ts'
import { readCompletions } from './read-completions.ts'

/** Longest time until blocks without completions are recorded, ms: they are quickly read again after a restart. */
const emptyMs = 15_000

/** COMPLETE_EVENT_PROCESSING: completions in the next final blocks of the target, by any account. */
export function createCompletionFollower(context: ScannedContext): Step {
  const { streamClient, source, targetChain, cache, ranges, logger } = context
  const { stream } = source.config
  let followed = -1
  let recorded = -1
  let recordedAt = 0

  async function record(found: readonly Completion[], targetHeight: number, to: number, era: number): Promise<boolean> {
    const numbers = setOf(found.map(({ number }) => number))
    const response = await streamClient.apply([{ kind: 'completed', numbers, from: targetHeight + 1, to }], era)
    if (!response) return true
    const unknown = found.filter(({ number }) => !cache.transfer(number))
    if (unknown.length > 0)
      logger.error('the target has completed numbers that the source does not have', {
        code: 'COMPLETIONS_UNKNOWN',
        ...{ stream, lowest: unknown[0]?.number, count: unknown.length },
      })
    for (const { number } of found) cache.completed(number)
    followed = to
    recorded = response.view.targetHeight ?? -1
    recordedAt = Date.now()
    return to < finalizedOf(targetChain)
  }

  return async function followCompletions() {
    const { targetHeight = -1 } = await viewOf(context)
    const era = streamClient.era
    // Temporal was restored from a copy: later records are lost.
    if (targetHeight < recorded) followed = -1
    recorded = targetHeight
    followed = Math.max(followed, targetHeight)
    const finalized = finalizedOf(targetChain)
    const to = Math.min(finalized, followed + ranges.target.blocks)
    if (to > followed) {
      const found = await readCompletions(context, followed + 1, to)
      if (!found) return true
      if (found.length > 0) return record(found, targetHeight, to, era)
      followed = to
    }
    if (followed > targetHeight && Date.now() - recordedAt > emptyMs) return record([], targetHeight, followed, era)
    return followed < finalized
  }
}
