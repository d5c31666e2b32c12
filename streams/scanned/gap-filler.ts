import { backoffMs } from '../../domain/backoff.ts'
import { room } from '../../domain/stream/numbers.ts'
import type { GapState, StreamState } from '../../domain/stream/stream.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { forEachLimited } from '../for-each-limited.ts'
import { seenRequest } from '../number-status.ts'
import { haltOnMismatch } from './halt-on-mismatch.ts'
import { startAgain, startAll } from './start-transfers.ts'
import { viewOf } from './context.ts'
import type { ScannedContext } from './context.ts'

/** Numbers that are looked up at once. */
const mostNumbers = 500
const restartsAtOnce = 20
/** The table has nothing of what is missing: looked at again so late, twice as late each time, ms. */
const again = { firstMs: 2_000, mostMs: 60_000 } as const

/**
 * Starts what the source's own table has of the gaps: a log that no node shows delays a transfer by a read or an audit, no more. What the backfill is about
 * to read is left to it.
 * @returns one look; true: there is more that can be started at once
 */
export function createGapFiller(context: ScannedContext): () => Promise<boolean> {
  const { streamClient, source, sourceChain, logger } = context
  let looked = { gaps: '', tries: 0, at: 0 }
  return async function fillGaps() {
    const view = await viewOf(context)
    if (view.paused || Object.keys(view.gaps).length === 0 || view.room === 0) return false
    const gaps = JSON.stringify([view.gaps, view.oldestGapAt, view.backfill.left > 0])
    if (gaps !== looked.gaps) looked = { gaps, tries: 0, at: 0 }
    if (Date.now() < looked.at) return false
    looked = { gaps, tries: looked.tries + 1, at: Date.now() + backoffMs(looked.tries, again.firstMs, again.mostMs) }
    const era = streamClient.era
    const state = await streamClient.state()
    if (!state || streamClient.era !== era) return false
    const numbers = numbersInGaps(state, state.backfill.left.length > 0 ? ['hidden', 'undone'] : undefined)
    if (numbers.length === 0) return false
    const isMore = await haltOnMismatch(context, sourceChain, async (at) => {
      const found = (await source.recorded(numbers, at ?? 'finalized')).flatMap((transfer) => transfer ?? [])
      const shown = await source.delivered(found)
      const delivered = found.filter((_, index) => shown[index])
      const missing = found.filter((_, index) => !shown[index]).slice(0, room(state))
      if (delivered.length + missing.length === 0) return false
      await begin(missing, state)
      const seen = seenRequest([
        ...delivered.map(({ sequence }) => [sequence, 'delivered'] as const),
        ...missing.map(({ sequence }) => [sequence, 'started'] as const),
      ])
      const told = await streamClient.apply([seen], era)
      say(state, [...delivered, ...missing])
      return told?.answers[0]?.kind === 'done' && missing.length + delivered.length < numbers.length && told.view.room > 0
    })
    return isMore === true
  }

  /** Blocks are final and in one chain: what the table has of them and no log showed, some node has hidden. */
  function say(state: StreamState, found: readonly Transfer[]): void {
    const { stream } = source.config
    const undone = new Set(numbersInGaps(state, ['undone']))
    const again = found.filter(({ sequence }) => undone.has(sequence)).length
    if (again > 0) logger.warn('what was undone is started again', { stream, transfers: again })
    if (found.length > again)
      logger.error('the source has transfers that no log of its final blocks showed: a node hides logs; they are delivered all the same', {
        stream,
        transfers: found.length - again,
        lowest: found.find(({ sequence }) => !undone.has(sequence))?.sequence,
      })
  }

  /** One that was undone has closed as delivered: the door would take it for done. */
  async function begin(missing: readonly Transfer[], state: StreamState): Promise<void> {
    const undone = new Set(numbersInGaps(state, ['undone']))
    await startAll(
      context,
      missing.filter(({ sequence }) => !undone.has(sequence)),
    )
    await forEachLimited(
      missing.filter(({ sequence }) => undone.has(sequence)),
      restartsAtOnce,
      async (transfer) => void (await startAgain(context, transfer)),
    )
  }
}

/** The lowest of them. */
export function numbersInGaps({ gaps }: StreamState, states?: readonly GapState[]): readonly string[] {
  const numbers: string[] = []
  for (const { from, to, state } of gaps) {
    if (states && !states.includes(state)) continue
    for (let number = BigInt(from); number <= BigInt(to) && numbers.length < mostNumbers; number++) numbers.push(String(number))
  }
  return numbers
}
