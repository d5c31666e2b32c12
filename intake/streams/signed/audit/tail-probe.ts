import { type NumberStatus, seenRequests } from '../../number-status.ts'
import type { SignedDeps } from '../deps.ts'
import { fetchMissing, foundIn } from '../gaps/fetch-missing.ts'
import type { GapsDeps } from '../gaps/gap-filler.ts'
import { unheardOf } from '../spy-silence.ts'

export type TailProbeDeps = SignedDeps & Pick<GapsDeps, 'isUnheard'>

/** How far above the highest known number the servers are asked: the next one, and two more, since the Governor may hold some back. */
const steps = [0n, 1n, 10n]
/** Of three questions each: what is farther away shows with the next message that is heard, or with the next audit. */
const mostRounds = 20
const above = 2n ** 64n

/**
 * The end of a stream whose source nobody counts: messages that the spy never told, with none above them that it did, show in no gap. Asks the servers of the
 * network for the numbers above the highest known one, and goes on from what they have.
 */
export function createTailProbe({ source, bridge, submitter, lookup, streamClient, logger, isUnheard }: TailProbeDeps) {
  /** What was found, by status. @param from where to begin if the stream has not begun; undefined: nowhere */
  return async function probe(from: string | undefined): Promise<Readonly<Record<NumberStatus, number>>> {
    const counts = { started: 0, delivered: 0, ignored: 0 }
    for (let round = 0; round < mostRounds; round++) {
      const { next = from, room = steps.length, paused } = streamClient.view ?? {}
      if (next === undefined || paused) break
      const numbers = steps.map((step) => BigInt(next) + step).filter((number) => number < above)
      // A transfer starts before it is recorded: no more than there is room for.
      const outcomes = await fetchMissing({ source, bridge, submitter, lookup }, numbers.slice(0, room).map(String))
      const found = foundIn(outcomes)
      if (found.length === 0) break
      const response = await streamClient.apply(seenRequests(found, { missedBySpy: unheardOf(outcomes, isUnheard) }))
      if (response?.answers[0]?.kind !== 'done') break
      for (const [, status] of found) counts[status]++
      const facts = { stream: source.config.stream, numbers: found.map(([number]) => number).join(', ') }
      logger.info('numbers above the highest that was heard are found', facts)
    }
    return counts
  }
}
