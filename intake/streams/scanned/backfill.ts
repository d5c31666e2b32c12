import type { Step } from '../loop.ts'
import { readRange } from './read-range.ts'
import { finalizedOf, type ReadingContext, viewOf } from './context.ts'

/** Time between two lines of progress in the log, ms. */
const logMs = 10_000

/** BOOTSTRAP next to the live scan: records the lowest chunk once its transfers were started or found delivered. */
export function createBackfill(context: ReadingContext): Step {
  const { streamClient, source, sourceChain, ranges, logger } = context
  let loggedAt = 0
  return async function backfill() {
    const view = await viewOf(context)
    if (view.paused || view.backfill.left === 0) return false
    const era = streamClient.era
    const [lowest] = (await streamClient.state())?.backfill.left ?? []
    if (!lowest || streamClient.era !== era) return false
    const [from, end] = [Number(lowest[0]), Math.min(Number(lowest[1]), finalizedOf(sourceChain))]
    const to = Math.min(end, from + ranges.source.blocks - 1)
    if (from > to) return false
    const reading = await readRange(context, { fromBlock: from, toBlock: to }, false, era)
    if (reading === 'too-long') return true
    if (reading === 'gone') return false
    const response = await streamClient.apply([{ kind: 'backfilled', from, to, ...reading }], era)
    if (response && Date.now() - loggedAt > logMs) {
      loggedAt = Date.now()
      const { left, ordered } = response.view.backfill
      logger.info('backfill', { stream: source.config.stream, upTo: to, left, ordered })
    }
    return response !== undefined && response.view.backfill.left > 0
  }
}
